# SPDX-License-Identifier: GPL-2.0
"""Figures of scripts, as measure.h prints them for programs: one in a line."""

import json


def figure(name, unit, value, better='less'):
    """Say one. `better`: which one of two is, the one that is less or more."""
    print(json.dumps({'figure': name, 'unit': unit, 'value': value, 'better': better}), flush=True)


def without(what, why):
    """Say what could not be measured."""
    print(json.dumps({'without': '%s (%s)' % (what, why)}), flush=True)
