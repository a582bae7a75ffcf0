// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>

#include "unit.h"
#include "vectors.h"

#define FRAME_MAX 65600
#define PCAP_USEC 0xa1b2c3d4u
#define PCAP_NSEC 0xa1b23c4du
#define PCAP_HEADER 24
#define PCAP_RECORD 16
#define LINKTYPE_ETHERNET 1

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

const char *vectors_dir(void)
{
	const char *dir = getenv("ROCEPATH_VECTORS");

	if (!dir)
		dir = ROCEPATH_ROOT "/../shared/roce-vectors";
	return is_dir(dir) ? dir : NULL;
}

const char *captures_dir(void)
{
	return ROCEPATH_ROOT "/selftests/unit/captures";
}

static void add(struct frames *f, const char *file, const char *name, const u8 *data, u32 len)
{
	struct frame *frame;

	f->frame = realloc(f->frame, (f->count + 1) * sizeof(*f->frame));
	assert_non_null(f->frame);
	frame = &f->frame[f->count++];
	snprintf(frame->file, sizeof(frame->file), "%s", file);
	snprintf(frame->name, sizeof(frame->name), "%s", name);
	frame->len = len;
	frame->data = malloc(len);
	assert_non_null(frame->data);
	memcpy(frame->data, data, len);
}

void frames_free(struct frames *f)
{
	while (f->count)
		free(f->frame[--f->count].data);
	free(f->frame);
	f->frame = NULL;
}

u32 hex_bytes(const char *text, u8 *out, u32 max)
{
	u32 digits = 0, byte = 0;

	for (; *text; text++) {
		if (!isxdigit((unsigned char)*text))
			continue;
		byte = byte << 4 |
		       (isdigit((unsigned char)*text) ? *text - '0' : (*text | 0x20) - 'a' + 10);
		if (digits % 2 && digits / 2 < max)
			out[digits / 2] = byte;
		digits++;
	}
	return min(digits / 2, max);
}

/* Blocks of lines: one or more of `# NAME: more`, then hex digits; an empty line ends a block. */
static void load_hex(struct frames *frames, const char *file, FILE *in)
{
	static u8 data[FRAME_MAX];
	static char line[4 * FRAME_MAX];
	char name[128] = "";
	bool more = true;
	u32 len = 0;

	while (more) {
		more = fgets(line, sizeof(line), in);
		if (!more || line[strspn(line, " \t\r\n")] == '\0') {
			if (len)
				add(frames, file, name, data, len);
			len = 0;
			name[0] = '\0';
		} else if (line[0] != '#') {
			len += hex_bytes(line, data + len, FRAME_MAX - len);
		} else if (!name[0]) {
			line[strcspn(line, "\r\n")] = '\0';
			snprintf(name, sizeof(name), "%.100s", line + 1 + strspn(line + 1, " "));
		}
	}
}

static u32 pcap_u32(const u8 *p, bool big)
{
	return big ? get_unaligned_be32(p) : get_unaligned_le32(p);
}

static void load_pcap(struct frames *frames, const char *file, FILE *in)
{
	u8 header[PCAP_HEADER], record[PCAP_RECORD];
	static u8 data[FRAME_MAX];
	char name[16];
	u32 magic, len, n;
	bool big;

	assert_int_equal(fread(header, 1, sizeof(header), in), sizeof(header));
	magic = get_unaligned_be32(header);
	big = magic == PCAP_USEC || magic == PCAP_NSEC;
	magic = pcap_u32(header, big);
	if (magic != PCAP_USEC && magic != PCAP_NSEC)
		fail_msg("%s: not pcap", file);
	if ((pcap_u32(header + 20, big) & 0xffff) != LINKTYPE_ETHERNET)
		fail_msg("%s: not Ethernet", file);
	for (n = 1; fread(record, 1, sizeof(record), in) == sizeof(record); n++) {
		len = pcap_u32(record + 8, big);
		if (len > FRAME_MAX || fread(data, 1, len, in) != len)
			fail_msg("%s: packet %u is cut off", file, n);
		if (len != pcap_u32(record + 12, big))
			fail_msg("%s: packet %u was not captured whole", file, n);
		snprintf(name, sizeof(name), "%u", n);
		add(frames, file, name, data, len);
	}
}

static void load_file(struct frames *f, const char *dir, const char *file)
{
	char path[4096];
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	in = fopen(path, "r");
	if (!in)
		fail_msg("%s: cannot be read", path);
	if (strstr(file, ".pcap"))
		load_pcap(f, file, in);
	else
		load_hex(f, file, in);
	fclose(in);
}

void frames_load(struct frames *f, const char *dir, const char *suffix)
{
	struct dirent **list;
	int i, n = scandir(dir, &list, NULL, alphasort);

	for (i = 0; i < n; i++) {
		const char *file = list[i]->d_name;
		size_t len = strlen(file), end = strlen(suffix);

		if (len > end && !strcmp(file + len - end, suffix))
			load_file(f, dir, file);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

const struct frame *frames_find(const struct frames *f, const char *name)
{
	size_t len = strlen(name);
	u32 i;

	for (i = 0; i < f->count; i++) {
		const char *has = f->frame[i].name;

		if (!strncmp(has, name, len) &&
		    (has[len] == '\0' || has[len] == ':' || has[len] == ' '))
			return &f->frame[i];
	}
	return NULL;
}

u32 frame_l3(const struct frame *f, u32 *tags)
{
	u32 at = 12, n = 0;
	u16 type = 0;

	for (; at + 2 <= f->len; at += 4, n++) {
		type = get_unaligned_be16(f->data + at);
		if (type != 0x8100 && type != 0x88a8)
			break;
	}
	if (tags)
		*tags = n;
	return (type == 0x0800 || type == 0x86dd) && at + 2 < f->len ? at + 2 : 0;
}
