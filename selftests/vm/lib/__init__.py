# SPDX-License-Identifier: GPL-2.0
"""The parts of the lab; tests import them through `lab`."""
