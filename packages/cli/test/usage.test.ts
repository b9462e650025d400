import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commands, groups } from '../src/commands/index.ts';
import { nobody, openStage } from './stage.ts';

const stage = openStage();

const typed: [line: string, ...said: RegExp[]][] = [
  ['lst', /no command "lst"/, /did you mean calls list/],
  ['fleet pause history', /no command "pause"/, /→ stop its workers/],
  ['fleet resume', /no command "resume"/, /→ calls fleet work JOB\.json goes on/],
  ['fleet cancel --yes', /no command "cancel"/, /→ stop its workers/],
  ['store export -o x', /no command "export"/, /→ calls export --store URL/],
  ['store import x', /no command "import"/, /→ calls sync --store URL fills/],
  ['store rebuild', /no command "rebuild"/, /→ calls sync --store URL --restart/],
  ['cancel', /no command "cancel"/, /→ stop its workers/],
  ['resume', /no command "resume"/, /→ calls fleet work JOB\.json goes on/],
  ['hash-password', /no command "hash-password"/, /→ calls serve --hash-password/],
  ['help optons', /no command "optons"/, /did you mean calls help options\?/],
  ['count -o x.csv', /no option -o/, /→ calls export -o calls\.csv/],
  ['list --json --json', /^calls: --json was given twice\n/],
  ['list -n 3 --limit 4', /^calls: --limit was given twice\n/],
  ['list --feilds sid', /no option --feilds/, /did you mean --fields/],
  ['--json list', /before --json/, /calls list --json/],
  ['fleet stauts', /calls fleet has no/, /mean calls fleet status/],
  ['list --watch', /no option --watch/, /use --follow/],
  ['erase', /no command "erase"/, /→ calls store erase/],
  ['store key', /calls store has no/, /→ calls store accounts key/],
  ['login', /no command "login"/, /→ calls init/],
  [
    'count --from 2026-10-01T00:00:00Z',
    /Times here have no time zone\. Did you mean 2026-10-01 00:00:00\?/,
  ],
  ['help exprot', /no command "exprot"/, /mean calls export/],
  ['store accounts key --store sqlite::memory:', /calls store accounts key needs --account ID/],
  ['list --secret-key hunter2', /keys are never options/, /CALLS_SECRET_KEY/],
  ['list --q "date_added:[2026-10-01 00:00:00 TO"', /the filter has a mistake/, /\n {2} +\^/],
  ['count --q "talk_minute:[5 TO *]"', /talk_minutes/, /\n {2}\^{11}\n/],
  ['count --q campaign:Brand', /found "campaign"/, /--where "campaign = 'Brand'"/],
  ['count --q "state = \'TX\'"', /found "state"/, /all else goes into --where/],
  ['count --q "talk_minutes:[2 TO *] AND missed"', /found "AND"/, /goes into --where/],
  ['list --q "ppc_campaign:[A TO B]"', /ppc_campaign/, /--where "ppc_campaign = '\.\.\.'"/],
  ['count --q "talk_minutes:[1 to 2]"', /try --q 'talk_minutes:\[1 TO 2\]'/],
  ['list --from 7d', /needs a time zone/, /--time-zone America\/New_York/],
  [
    'report --period 2026-11 --compare "last month"',
    /"last month" needs a time zone/,
    /--time-zone America\/New_York/,
  ],
  ['list --time-zone UTC --period yesterday --from 2026-10-01', /has both ends: leave out/],
  ['list --from 12h', /or 28d for 28 days ago/, /'last 12 hours'/],
  ['list --last 7d', /use --from <time>: .*28d/],
  ['list --time-zone EST5 --from 1d', /no time zone "EST5"/],
  ['list --time-zone EST --from 1d', /"EST".* abbreviation/, /America\/New_York.*America\/Panama/],
  ['list --time-zone pst --from 1d', /"pst".* abbreviation/, /America\/Los_Angeles/],
  ['list --missed', /no option --missed/, /use --where missed/],
  ['list --fields talk_minuts', /did you mean talk_minutes\?/],
  ['list --fields keywrds', /did you mean (?:ppc_)?keywords\?/],
  [
    'count --from 2026-10-02 --to 2026-10-01',
    /^calls: --from \(2026-10-02\) is not before --to \(2026-10-01\)\. Did you mean --from 2026-10-01/,
  ],
  ['sheet google-ads', /did you mean google-ads-calls or google-ads-clicks\?/],
  ['sheet microsoft', /did you mean microsoft-ads or microsoft-bulk\?/],
  ['sheet google-ads-click', /did you mean google-ads-clicks\?/],
  ['report -o x.pdf', /\.html/, /print it as PDF/],
  ['export -o x.ods', /--format spreadsheet/],
  ['list -o x.xlsx', /\.csv/],
  ['push bing', /calls push microsoft/],
  [
    'push google --customer 123-456-7890 --conversion-action 1 --all-accounts',
    /no option --all-accounts/,
    /one account at a time/,
  ],
  ['count --until 2026-10-02', /no option --until/, /use --to <time>: the last day/],
  ['list --columns sid', /no option --columns/, /use --fields <fields>/],
  [
    'report money',
    /no report "money": there is no configuration file/,
    /--config \(CALLS_CONFIG\)/,
  ],
  ['report --json x.json', /there is no report "x\.json"/, /--output x\.json writes a file/],
  ['report --format html', /a page needs a file: --output report.html/],
  ['report -o x.pdf', /does not name a format/, /\.csv, \.json, \.ndjson, \.xlsx or \.html/],
  [
    'list --timeout 3m',
    /no option --timeout\n.*it is a setting: CALLS_TIMEOUT in the environment, or "timeout" in calls\.config\.json\n/,
  ],
  ['count --log-format=json', /it is a setting: CALLS_LOG_FORMAT in the environment\n/],
  ['get 1 --from 7d', /it is an option of calls list --from, /],
  ['report --top 3', /use --limit <n>/],
  ['list --since 2026-10-01', /no option --since/, /use --from <time>/],
  ['list --format csv --json', /'--json' cannot be used with option '--format/],
  ['sql "select 1" --where missed', /it is an option of calls list --where, calls count --where, /],
  [
    'sync --store sqlit:foo',
    /--store: a store is sqlite:FILE or postgres:/,
    /did you mean sqlite:foo\?/,
  ],
  ['sync --store sqlite://a/calls.db', /two slashes/, /did you mean sqlite:a\/calls\.db\?/],
  [
    'count --store sqlite:///calls.db',
    /sqlite:calls\.db is a file of the current folder, sqlite:\/calls\.db one at a full path/,
  ],
  ['verify sqlite:////a/calls.db', /did you mean sqlite:\/a\/calls\.db\?/],
  [
    'serve --page-password hunter2',
    /keys are never options/,
    /CALLS_PAGE_PASSWORD is the password of the web page/,
  ],
  ['serve --password hunter2', /CALLS_PAGE_PASSWORD is the password of the web page/],
  [
    `list --where "caller_type = 'returning'"`,
    /other calls of a caller needs a copy/,
    /calls sync/,
  ],
  ['list --format json', /--format cannot be "json"/, /use --json/],
  ['export --parquet', /use --format parquet\n/],
  ['list --all -n 5', /'--all' cannot be used with option '-n, --limit/],
  ['list --base-url example.com', /begins with https/],
  ['list --base-url https://me:hunter2@example.com', /must not have credentials in it/],
  ['export', /needs a file/],
  ['demo --to x.csv', /--to must be a time, not "x.csv"/],
  ['export --output calls.txt', /extension does not name a format/],
  ['export --output calls.csv --format parquet', /names csv, and --format parquet another format/],
  ['report -o report.html --json', /names html, and --json another format/],
  ['export --output calls.parquet.gz', /already compressed/],
  ['sheet sa360 --output x.csv --conversion-name x', /needs a time zone/],
  [
    'sheet sa360 --output x.csv --time-zone UTC',
    /--conversion-name is missing: it is the name of the conversion in Search Ads 360/,
  ],
  ['sheet sa360 -o x --time-zone UTC --conversion-name x --value usd', /must be an amount/],
  ['sheet sa360 -o x --currency USD', /no option --currency/, /use --value <amount>/],
  [
    'sheet sa360 --output x --time-zone UTC --conversion-name x --left-out ./x',
    /name the same file/,
  ],
  ['export --output x.csv --value 1', /no option --value/, /calls sheet --value/],
  [
    'sheet skai -o x.csv --fields sid',
    /no option --fields/,
    /calls list --fields, calls get --fields/,
  ],
  ['report --by page', /may mean landing_page or conversion_page/],
  ['report --order weight', /no column "weight"/],
  ['export -o x --partition week', /--partition cannot be "week"/, /use one of: month/],
  ['--verison', /needs a command before --verison/, /did you mean calls --version\?/],
  [
    'report --period 2026-10 --compare soon',
    /--compare is "soon", which is not/,
    /'previous', 'year', or a period/,
  ],
  ['count --period soon', /--period is "soon", which is not a period/, /'last month'/],
  ['report --by ani -o x.html', /personal data/],
  ['sheet -o x.csv', /missing required argument 'tool'/, /google-ads-clicks, .*marin/],
  ['watch', /no command "watch"/, /→ calls list --follow/],
  ['push microsoft --wait 5m', /no option --wait/, /calls push status/],
  ['completion tcsh', /cannot be "tcsh"/, /bash, zsh, fish/],
  ['serve --store sqlite::memory: --records 5', /--records is for the sandbox/],
  ['mcp --sandbox --check', /--check.* cannot be used with .*--sandbox/],
];
test.each(typed)(
  'calls %s is refused before it asks for keys, with nothing on stdout',
  async (line, ...said) => {
    const env = { ...nobody, CALLS_BASE_URL: stage.url };
    const { code, stdout, stderr } = await stage.quick(line, { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const text of said) expect(stderr).toMatch(text);
    expect(stderr).not.toContain('hunter2');
    expect(stderr).not.toMatch(/\bat .*\.js:\d+/);
  },
);

test('every command and option that a message, a help text or a document names exists', () => {
  const root = join(import.meta.dirname, '../../..');
  const files = [
    'README.md',
    'examples/README.md',
    ...readdirSync(join(root, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
    ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
    ...readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`),
    ...readdirSync(join(root, 'packages')).flatMap((name) =>
      readdirSync(join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
        .filter(
          (file) =>
            file.endsWith('.ts') && !/completion|generated|report\/page|report\/html/.test(file),
        )
        .map((file) => `packages/${name}/src/${file}`),
    ),
  ];

  // Of npm, npx, Node.js and gcloud, and the one that is not a command's.
  const others =
    '--global --save-dev --yes --prefix --env-file --throw-deprecation --version --http';
  const elsewhere = new Set(others.split(' '));

  const optionsOf = (name: string): readonly string[] | undefined => {
    const command = commands.find((known) => known.name === name);
    const flags = Object.keys(command?.options ?? {}).map(
      (flags) => /--[\w-]+/.exec(flags)?.[0] ?? '',
    );
    return command && [...flags, '--help', '--debug'];
  };

  // A command that still reads the old name of an option would do as if it were never typed.
  const optionRead = /(?:\.(?:text|need|flag|list|integer)\(|interval\(\w+, )'([\w-]+)'/g;
  const names = commands.map(({ name }) => name).sort((a, b) => b.length - a.length);
  const firstWords = groups.map(({ name }) => name);
  const all = new Set(commands.flatMap(({ name }) => optionsOf(name) ?? []));
  const strange: string[] = [];
  for (const file of files) {
    let text: string;
    try {
      text = readFileSync(join(root, file), 'utf8');
    } catch {
      continue;
    }
    // An option that was refused is named in the message about it, and a name to fill in has
    // braces.
    const known = text.replace(/--\{[^}]*\}/g, '');
    for (const [line, name = ''] of known.matchAll(/^ *(?:\$ )?calls ([a-z][a-z -]*?)(?= --)/gm))
      if (!names.some((known) => `${name} `.startsWith(`${known} `)) && !firstWords.includes(name))
        strange.push(`${file}: ${line}`);
    for (const part of known.split(/\bcalls (?=[a-z])/).slice(1)) {
      const [line = ''] = /^[^\n`;|]*/.exec(part) ?? [];
      // The longest name that is a command: `store accounts add`, and not `store`.
      const name = names.find((name) => line === name || line.startsWith(`${name} `)) ?? '';
      const rest = line.slice(name.length);
      const options = optionsOf(name);
      for (const [option] of options ? rest.matchAll(/(?<=[\s(])--[a-z][a-z-]*/g) : [])
        if (!options?.includes(option) && !elsewhere.has(option))
          strange.push(`${file}: calls ${name} ${option}`);
    }
    const messages = file.startsWith('packages/cli/src/')
      ? known.replace(/^ *(?:\/\/|\*|\/\*\*).*/gm, '')
      : '';
    for (const [option] of messages.matchAll(/(?<![\w-])--[a-z][a-z-]*/g))
      if (!all.has(option) && !elsewhere.has(option)) strange.push(`${file}: ${option}`);
    for (const [reading, name] of messages.matchAll(optionRead))
      if (!all.has(`--${name}`)) strange.push(`${file}: ${reading}`);
  }

  expect(strange).toEqual([]);
});
