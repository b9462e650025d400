/**
 * Every rule of the API text as one numbered line, in our own words. A test proves a rule by naming
 * its id in brackets in its title, such as `test('[R43] …')`; a rule that no test names fails
 * `test/coverage.test.ts`. Where the API text says "not shown", the rule points to our choice in
 * `docs/assumptions.md`.
 */
export interface Rule {
  readonly id: string;
  readonly text: string;
  /** Id of the line in `docs/assumptions.md` that says what we chose. */
  readonly assumption?: string;
  /** Only a server can follow it: a client passes on what it receives. */
  readonly serverOnly?: true;
  /** Only a client can follow it. */
  readonly clientOnly?: true;
}

const rule = (id: string, text: string): Rule => ({ id, text });
const open = (id: string, assumption: string, text: string): Rule => ({ id, text, assumption });
const server = (of: Rule): Rule => ({ ...of, serverOnly: true });

/** The rules, grouped as the text groups them. */
export const rules: readonly Rule[] = [
  // What the service does
  rule('R01', 'A list is a JSON array with one object per call.'),
  rule('R02', 'A sid identifies exactly one call.'),
  rule('R03', 'Calls can be listed in pages, filtered, and requested one by one.'),
  rule('R04', 'The API is read-only.'),
  open('R05', 'A19', 'Methods other than GET: not shown.'),

  // Call record
  rule('R10', 'Each record carries every field of its version.'),
  rule('R11', 'A field without a value is null.'),
  rule('R12', 'Numbers are strings, except in fields of type integer.'),
  rule('R13', 'Times have the form YYYY-MM-DD HH:MM:SS.'),
  rule('R14', 'talk_start and talk_end also have tenths of a second.'),
  open('R15', 'A01', 'The time zone of timestamps: not shown.'),
  rule('R16', 'Fields marked v2 are in v2 records only.'),
  rule('R17', 'Fields marked v3 are in v3 records only.'),
  rule('R18', 'talk_minutes and smart_minutes are decimal strings in tenths of a minute.'),
  server(rule('R19', 'rank is 1 to 5.')),
  server(rule('R20', 'activity_type_id is 1 to 8.')),
  rule('R21', 'call_logging_id is always null.'),
  server(rule('R22', 'referrer is a string and may be empty.')),
  server(rule('R23', 'call_duration is whole minutes, rounded up.')),
  rule(
    'R24',
    'The fourteen vt_ parameters are always returned; no parameter is needed to include them.',
  ),
  rule('R25', 'recording and vt_ads_producttargetid are in every record.'),
  server(open('R26', 'A02', 'Meaning and form of recording: not shown.')),
  server(open('R27', 'A03', 'Meaning and form of vt_ads_producttargetid: not shown.')),
  rule('R28', 'ppc_status is one of six values.'),
  server(rule('R29', 'ppc_status is N/A for a tracked call without a click id.')),
  server(open('R30', 'A04', 'Transitions of ppc_status: not shown.')),
  rule('R31', 'channel distinguishes tracker calls from calls made through call extensions.'),
  open('R32', 'A20', 'The v3 value of the call-extensions channel: not shown.'),
  server(
    rule(
      'R33',
      'first_touch is a full URL; landing_page is its path and first_touch_domain its domain.',
    ),
  ),
  server(rule('R34', 'conversion_page and last_touch_domain are path and domain of last_touch.')),

  // List
  rule(
    'R40',
    'Lists are at /v2/user/bid-management and /v3/user/bid-management below the base URL.',
  ),
  rule('R41', 'q, rows and start are optional.'),
  rule('R42', 'rows is the number of records in one response.'),
  rule('R43', 'start counts pages of rows: rows=2 and start=1 return the records 3 to 4.'),
  rule('R44', 'A list request has no body.'),
  rule('R45', 'Content-Range has the form first-last/total.'),
  open('R46', 'A16', 'Content-Range when nothing matches: not shown.'),
  rule('R47', 'The request header Content-Type: application/json is optional; responses are JSON.'),
  open('R48', 'A15', 'The order of records: not shown.'),
  open('R49', 'A18', 'Unknown and repeated parameters: not shown.'),

  // Filter
  rule('R50', 'q holds filters of the form field:range.'),
  rule('R51', 'Square brackets include their bound.'),
  rule('R52', 'Braces exclude their bound.'),
  rule('R53', 'TO separates the bounds, with a space on each side.'),
  rule('R54', 'An asterisk leaves an end of the range open.'),
  rule('R55', 'Parts are separated by commas, and all apply.'),
  rule('R56', 'inc_gce:1 includes calls made through call extensions in v3.'),
  rule('R57', 'A date bound has the form YYYY-MM-DD HH:MM:SS.'),
  rule('R58', 'date_added takes a range; [ and } make it half-open.'),
  rule('R59', 'talk_minutes:[n TO *] means n or more.'),
  rule('R60', 'A list without a date filter is allowed, though not recommended.'),
  open('R61', 'A05', 'Filterable fields beyond these three: not shown.'),
  open('R62', 'A17', 'Braces in v3: documented for v2 only.'),

  // Single record and count
  rule('R70', 'A record is at …/user/bid-management/{sid} in v2 and v3.'),
  rule('R71', 'The sid must belong to the account.'),
  open('R72', 'A06', 'Whether a single record is wrapped in an array: not shown.'),
  rule('R73', 'The v2 count is at …/v2/user/bid-management/count.'),
  open('R74', 'A07', 'The shape of the count: not shown.'),
  open('R75', 'A08', 'A count in v3: not shown.'),

  // SMS number listing
  rule('R80', 'The SMS numbers are at {legacy_base_url}/ibp_api.php, without a version.'),
  rule('R81', 'action is required and must be sms.get_numbers.'),
  rule('R82', 'access_key and secret_access_key are required.'),
  rule(
    'R83',
    'The response is XML in UTF-8: a response element with result, result_description and data, in this order.',
  ),
  rule('R84', 'result_description has the form [n] Number(s) Returned.'),
  rule('R85', 'A number element holds digits and the attributes sms_enabled and url.'),
  open('R86', 'A10', 'The meaning of result: empty in the shown response.'),
  open('R87', 'A09', 'The HTTP method of the listing: not shown.'),
  server(open('R88', 'A22', 'What is sent to the listener url, events and callbacks: not shown.')),

  // Authentication
  rule('R90', 'v3 requires the headers access_key and secret_key.'),
  rule('R91', 'v3 accepts a bearer token from legacy users instead.'),
  rule('R92', 'v2 requires a bearer token.'),
  rule('R93', 'Only records of the authorized account are returned.'),
  rule('R94', 'Keys and tokens are kept secret.'),

  // Errors and limits
  open('R95', 'A11', 'Status codes and error bodies: not shown.'),
  open('R96', 'A13', 'Rate limits: not shown.'),
  open('R97', 'A12', 'Default and maximum of rows: not shown.'),
  open('R98', 'A14', 'Default and maximum of start: not shown.'),
  open('R99', 'A21', 'Compression: not shown.'),

  // Versioning
  rule('R100', 'The version is in the path, directly after the base URL.'),
  rule('R101', 'v3 calls baseuri first_touch.'),
  rule('R102', 'v3 calls the four ads_ ids ppc_ ids.'),
  rule('R103', 'v3 deprecates phone_number, super_id and call_logging_id.'),
  open(
    'R104',
    'A23',
    'Whether v3 still sends the deprecated fields: its field list leaves them out.',
  ),
  rule('R105', 'v3 adds twenty-one fields.'),
  { ...open('R106', 'A24', 'Other names of the same fields: not shown.'), clientOnly: true },
];
