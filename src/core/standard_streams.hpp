// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Output to people, on stdout and stderr. Nothing else under src/ writes there.
#pragma once

#include <string>
#include <string_view>

namespace nekbone_k {

/// Opens any of the descriptors 0 to 2 that is closed. Otherwise a file or socket of a library
/// could take its place, and output would go into that file. If stdout was closed, writes to it
/// fail. If stderr was closed, its output is discarded. From then on a write fails, without a
/// signal, if its reader goes away or its file reaches the size limit. Call it first in main.
void prepare_standard_streams();

/// Prints on stdout at once. A failure has no other effect; why_not_printed() gives the reason.
void print_on_stdout(std::string_view text);
/// Why an earlier write to stdout failed, e.g. "No space left on device"; empty if none failed.
std::string why_not_printed();

/// Writes a message on stderr at once. A failure only loses the message: it never ends, delays or
/// changes a run. Any thread may call this.
void print_on_stderr(std::string_view text) noexcept;

/// Whether the program can redraw a line on stderr: stderr is a terminal, and not a dumb one.
bool can_redraw_stderr();

/// Whether the terminal takes ASCII only: TERM is "dumb", or the locale is not UTF-8. The locale is
/// the first of LC_ALL, LC_CTYPE and LANG that is not empty. Without a locale, output is UTF-8,
/// because batch jobs often have none. print_on_stdout() and print_on_stderr() obey this.
bool is_ascii_only();
/// Converts UTF-8 to ASCII, one character per code point, so that columns keep their width: µ
/// becomes u, and a character without a similar one becomes a question mark.
std::string to_ascii(std::string_view text);

}  // namespace nekbone_k
