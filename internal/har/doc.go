// Package har holds the data types of HTTP Archive 1.2, the JSON format in which
// browsers and other tools save exchanges, and reads and writes them. It knows
// neither clients nor servers.
//
// Reading is lenient in what tools differ in (times, missing and unknown
// fields, null for a list, fractions for a size) and strict in what would
// mislead: a file that is no archive, an entry that does not fit the types, a
// list without end. Errors name the entry.
//
// The format has no place for some of what happens in HTTP. Those fields have
// names that begin with an underscore, as the format wants it, and other tools
// skip them.
package har
