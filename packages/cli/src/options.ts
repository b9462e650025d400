/** Which calls are read. */
export const whichCalls = {
  '--period <period>':
    'yesterday, "last 28 days" (whole days before today), "last 12 hours", "last month", 2026-11, 2026-Q3',
  '--from <time>':
    '2026-11-20, "2026-11-20 14:30:00" or yesterday; 28d is from the midnight 28 days ago up to now',
  '--to <time>': 'the last day, or the time just after the last call',
  '--where <condition>':
    "a condition on any field: \"talk_minutes >= 2 and state in ('TX', 'CA')\"",
  '--q <filter>': "filter in the language of the API: 'date_added:[2026-11-01 00:00:00 TO *]'",
  '--min-talk <duration>': 'calls with at least this much talk: 90s, 2m',
  '--include-extensions': 'v3: calls through call extensions as well',
  '--store <url>':
    'read from this copy: sqlite:calls.db or postgres://user@host/name; none reads from the API (default: CALLS_STORE, else the API)',
  '--on-bad-record <stop|skip>':
    'a record that cannot be read or stored: stop, or leave it out and name it (default: stop)',
} as const;

/** Of commands whose calls a copy elsewhere may follow. */
export const changes = {
  '--changed-since <time>':
    'of a copy: calls that were stored or changed after this time, in UTC: 2026-11-27, "2026-11-27 10:30:00.123" or 1d',
} as const;

/** Which calls do not count. */
export const exclusion = {
  '--no-exclude': 'count the calls, too, that "exclude" of calls.config.json leaves out',
} as const;

/** How the result is shown or written. */
export const output = {
  '-o, --output <file>': 'file to write; its extension selects the format',
  '--format <table|ndjson|csv>':
    'another format (default: table, or what the extension of --output says)',
  '--json': 'the result as one JSON value',
  '--fields <fields>': 'only these fields, separated by commas; calls fields lists all of them',
} as const;

/** Whose calls are read. */
export const accounts = {
  '--account <names>':
    'accounts of calls.config.json, or accounts in the copy: main or main,berlin',
  '--all-accounts':
    'all of them; each row says whose it is, and a failure of one does not stop the others',
} as const;

/** Where the API is and how to speak to it. */
export const connection = {
  '--base-url <url>': 'URL of the API, up to /v2 and /v3',
  '--api-version <v2|v3>': 'version of the API (default: v3)',
  '--time-zone <zone>': 'time zone that the API writes its times in, such as America/New_York',
  '--config <file>': "configuration file to read instead of the user's own",
} as const;

/** Where the listing of SMS numbers is. */
export const legacy = {
  '--legacy-base-url <url>': 'URL of the SMS listing, up to /ibp_api.php',
} as const;

/** Where a command serves HTTP. */
export const listening = {
  '--port <port>': 'port to listen on; 0 for any free port (default: 8675)',
  '--host <name>': 'address to listen on (default: 127.0.0.1)',
  '--tls-cert <file>': 'certificate (PEM); needs --tls-key',
  '--tls-key <file>': 'private key (PEM)',
  '--status-port <port>': 'another port for /healthz, /readyz and /metrics; 0 for any free port',
  '--status-host <name>': 'address for --status-port (default: 127.0.0.1)',
} as const;

/** Which calls are made up. */
export const sandbox = {
  '--records <n>': 'how many calls to make up',
  '--seed <seed>': 'a different number makes up different calls (default: 1)',
  '--to <end>':
    'the last day of the generated calls, or the time just after the last one, instead of now',
  '--accounts <accounts>':
    'how many accounts share the calls; with several, a block to paste makes a calls.config.json of them (default: 1)',
  '--live': 'new calls arrive and earlier ones change while it runs',
} as const;

/** Of commands that upload conversions. */
export const conversionName = {
  '--conversion-name <name>': 'name of the conversion action, goal or type, spelled as in the tool',
} as const;

/** What calls became later. */
export const outcomeFiles = {
  '--outcomes <files>':
    'what calls became, such as sales: files with columns phone, time and value, and optional currency, conversion, id and status, or their names under "outcomes" of calls.config.json',
  '--outcome-dates <dmy|mdy|ymd>': 'the order of day, month and year, where a file does not tell',
  '--outcome-window <duration>': 'how long a call may lie before its outcome (default: 30d)',
} as const;

/** The same for commands that upload them. */
export const uploadedOutcomes = {
  ...outcomeFiles,
  '--outcomes-complete':
    'no row is missing in the files: what was uploaded of their time and is in none is taken back',
} as const;

/** The conversion action of Google that calls are pushed to, and how it knows them. */
export const googleAction = {
  '--customer <id>': 'account that owns the conversion action: 123-456-7890',
  '--conversion-action <id>': 'ID of the conversion action, a number',
  '--phone':
    'match by the hashed number of the caller too; needs the consent adUserData in --rules',
} as const;

export const dryRun = {
  '--dry-run': 'show what there would be, and write and send nothing',
} as const;

export const allowRetractions = {
  '--allow-retractions':
    'take back also more than 20 and more than 5 % of what the ledger has of these calls',
} as const;

/** What a conversion is worth, and which calls are one. */
export const ruleOptions = {
  '--value <amount>': 'value of each conversion, with its currency: 25USD',
  '--rules <file>':
    'JSON file with more rules: where, valueRules, unanswered, firstCallOnly, oncePerCaller, clickWindow, minAge, consent',
  ...exclusion,
} as const;

/** Where a push notes what was sent. */
export const pushLedger = {
  '--ledger <file>': 'notes what was sent; --dry-run and --validate-only need none',
} as const;

/** Options that mean the same in every command that has them, under the headings of the help. */
export const sharedOptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Which calls': { ...whichCalls, ...changes, ...exclusion },
  Outcomes: uploadedOutcomes,
  Output: output,
  Accounts: accounts,
  Connection: { ...connection, ...legacy },
  Listening: listening,
  Sandbox: sandbox,
};

/** Some lines of a list. */
export function only<L extends object, K extends keyof L>(
  lines: L,
  ...keys: readonly K[]
): Pick<L, K> {
  return Object.fromEntries(
    Object.entries(lines).filter(([key]) => keys.includes(key as K)),
  ) as Pick<L, K>;
}

/** All lines of a list but some. */
export function without<L extends object, K extends keyof L>(
  lines: L,
  ...keys: readonly K[]
): Omit<L, K> {
  return Object.fromEntries(
    Object.entries(lines).filter(([key]) => !keys.includes(key as K)),
  ) as Omit<L, K>;
}

/** What a push reads: calls through extensions always, and its ledger knows the days. */
export const pushedCalls = {
  ...without(whichCalls, '--period <period>', '--include-extensions'),
  ...only(accounts, '--account <names>'),
  ...connection,
};
