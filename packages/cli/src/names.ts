// Names that were typed and are none here: of other programs, of people, of what there is no more.

/** What to type instead of commands that there are not. */
export const otherCommands: Readonly<Record<string, string>> = {
  check: 'calls doctor',
  'config, configure, login, setup': 'calls init',
  'delete, purge, remove': 'calls store purge',
  download: 'calls export',
  erase: 'calls store erase',
  'cancel, pause, fleet cancel, fleet pause':
    'stop its workers (Ctrl-C, SIGTERM); what was read stays, and calls fleet work JOB.json goes on there',
  'resume, fleet resume': 'calls fleet work JOB.json goes on where its workers were stopped',
  'push bing, push microsoft-ads': 'calls push microsoft',
  'push google-ads, push adwords': 'calls push google',
  'hash-password': 'calls serve --hash-password',
  missed: 'calls report --measures missed',
  show: 'calls get',
  'status, store sizes': 'calls doctor --offline',
  'store export':
    'calls export --store URL -o calls.ndjson writes its calls; to move a store, copy the SQLite file, or use pg_dump',
  'store import':
    'calls sync --store URL fills a store; to move one, copy the SQLite file, or use pg_dump and pg_restore',
  'store key': 'calls store accounts key',
  'store rebuild': 'calls sync --store URL --restart reads and counts all calls again',
  'tail, watch': 'calls list --follow',
  version: 'calls --version',
};

/**
 * What to type instead of options that there are not: an option, where the command has it, or what
 * else does it.
 */
export const otherOptions: Readonly<Record<string, string>> = {
  'account-id accounts profile': '--account',
  'after last since start': '--from',
  'call-extensions inc-gce': '--include-extensions',
  'columns select': '--fields',
  'concurrency parallel workers': '--slots',
  'count rows top': '--limit',
  currency: '--value',
  'database db': '--store',
  'date day month': '--period',
  'end until': '--to',
  'excel output-format': '--format',
  'file out': '--output',
  'filter query search': '--q',
  filter: '--where',
  'group group-by': '--by',
  metrics: '--measures',
  'min-minutes minutes': '--min-talk',
  'order-by sort sort-by': '--order',
  'tail watch': '--follow',
  'timezone tz': '--time-zone',
  url: '--base-url',
  verbose: '--debug',
  'last-month': '--period "last month"',
  today: '--period today',
  yesterday: '--period yesterday',
  campaign: `--where "campaign = 'Brand'"`,
  channel: `--where "channel = 'Tracker'"`,
  missed: '--where missed',
  source: `--where "source = 'google'"`,
  'all-accounts':
    'this command works on one account at a time: name it with --account, and run the command once for each',
  check: 'calls doctor tries the settings',
  log: 'it is a setting: CALLS_LOG in the environment',
  'log-format': 'it is a setting: CALLS_LOG_FORMAT in the environment',
  n: 'calls list -n 3 shows some calls; an export has all that match',
  page: 'calls list -n 200 shows more, and --all shows all calls',
  timeout: 'it is a setting: CALLS_TIMEOUT in the environment, or "timeout" in calls.config.json',
  watch: 'the program watch repeats a command: watch -n 10 calls fleet status',
  'o output':
    'calls export -o calls.csv writes a file; calls sync --store sqlite:calls.db keeps a copy',
  wait: 'calls push status shows what became of a request',
};

/**
 * Options that other programs take secrets by: every user of the machine can see an option, and the
 * shell's history keeps it.
 */
export const secretNames =
  /^(access-key|secret-key|secret-access-key|bearer-token|api-key|token|page-password|password|secret)$/;
