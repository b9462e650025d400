import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commands, groups } from '../src/commands/index.ts';
import { nobody, openStage } from './stage.ts';

const stage = openStage();
afterAll(() => stage.close());

const typed: [string, string[], RegExp[]][] = [
  ['an unknown command', ['lst'], [/no command "lst"/, /did you mean calls list/]],
  ['fleet pause', ['fleet', 'pause', 'history'], [/no command "pause"/, /→ stop its workers/]],
  ['fleet resume', ['fleet', 'resume'], [/no command "resume"/, /→ calls fleet work JOB\.json goes on/]],
  ['fleet cancel', ['fleet', 'cancel', '--yes'], [/no command "cancel"/, /→ stop its workers/]],
  ['store export', ['store', 'export', '-o', 'x'], [/no command "export"/, /→ calls export --store URL/]],
  ['store import', ['store', 'import', 'x'], [/no command "import"/, /→ calls sync --store URL fills/]],
  ['store rebuild', ['store', 'rebuild'], [/no command "rebuild"/, /→ calls sync --store URL --restart/]],
  ['an unknown option', ['list', '--feilds', 'sid'], [/no option --feilds/, /did you mean --fields/]],
  ['an option before the command', ['--json', 'list'], [/before --json/, /calls list --json/]],
  ['an unknown command of a group', ['fleet', 'stauts'], [/calls fleet has no/, /mean calls fleet status/]],
  ['a command in the place of an option', ['list', '--watch'], [/no option --watch/, /use --follow/]],
  ['a command of a group', ['erase'], [/no command "erase"/, /→ calls store erase/]],
  ['a command of a group in a group', ['store', 'key'], [/calls store has no/, /→ calls store accounts key/]],
  ['the name of a command elsewhere', ['login'], [/no command "login"/, /→ calls init/]],
  [
    'an instant',
    ['count', '--from', '2026-10-01T00:00:00Z'],
    [/Times here have no time zone\. Did you mean 2026-10-01 00:00:00\?/],
  ],
  ['help of an unknown command', ['help', 'exprot'], [/no command "exprot"/, /mean calls export/]],
  [
    'a command of a group without its option',
    ['store', 'accounts', 'key', '--store', 'sqlite::memory:'],
    [/calls store accounts key needs --account ID/],
  ],
  ['a key as an option', ['list', '--secret-key', 'hunter2'], [/keys are never options/, /CALLS_SECRET_KEY/]],
  [
    'an unfinished filter',
    ['list', '--q', 'date_added:[2026-10-01 00:00:00 TO'],
    [/the filter has a mistake/, /\n {2} +\^/],
  ],
  ['a misspelled field', ['count', '--q', 'talk_minute:[5 TO *]'], [/talk_minutes/, /\n {2}\^{11}\n/]],
  ['TO in lower case', ['count', '--q', 'talk_minutes:[1 to 2]'], [/try --q 'talk_minutes:\[1 TO 2\]'/]],
  [
    'a relative time without a time zone',
    ['list', '--from', '7d'],
    [/needs a time zone/, /--time-zone America\/New_York/],
  ],
  [
    'a relative time to compare with, without a time zone',
    ['report', '--period', '2026-11', '--compare', 'last month'],
    [/"last month" needs a time zone/, /--time-zone America\/New_York/],
  ],
  [
    'two periods',
    ['list', '--time-zone', 'UTC', '--period', 'yesterday', '--from', '2026-10-01'],
    [/has both ends: leave out/],
  ],
  ['hours as a start', ['list', '--from', '12h'], [/or 28d for 28 days ago/, /'last 12 hours'/]],
  ['another word for the time up to now', ['list', '--last', '7d'], [/use --from <time>: .*28d/]],
  ['an unknown time zone', ['list', '--time-zone', 'EST5', '--from', '1d'], [/no time zone "EST5"/]],
  ['an option for the missed calls', ['list', '--missed'], [/no option --missed/, /use --where missed/]],
  ['a mistyped name of a field', ['list', '--fields', 'talk_minuts'], [/did you mean talk_minutes\?/]],
  ['another word for a field', ['list', '--fields', 'keywrds'], [/did you mean (?:ppc_)?keywords\?/]],
  [
    'an empty time range',
    ['count', '--from', '2026-10-02', '--to', '2026-10-01'],
    [/^calls: --from \(2026-10-02\) is not before --to \(2026-10-01\)\. Did you mean --from 2026-10-01/],
  ],
  [
    'the former name of an option',
    ['count', '--until', '2026-10-02'],
    [/no option --until/, /use --to <time>: the last day/],
  ],
  [
    'the former name of --fields',
    ['list', '--columns', 'sid'],
    [/no option --columns/, /use --fields <fields>/],
  ],
  ['an option of other programs', ['count', '--since', '7d'], [/use --from <time>/]],
  ['a file after a switch', ['report', '--json', 'x.json'], [/too many arguments/, /--json takes no value/]],
  ['a page without a file', ['report', '--format', 'html'], [/a page needs a file: --output report.html/]],
  [
    'a file of an unknown kind',
    ['report', '-o', 'x.pdf'],
    [/does not name a format/, /\.csv, \.json, \.ndjson or \.html/],
  ],
  [
    'a setting, which is an option of another command',
    ['list', '--timeout', '3m'],
    [
      /no option --timeout\n.*it is a setting: CALLS_TIMEOUT in the environment, or "timeout" in calls\.config\.json\n/,
    ],
  ],
  ['a setting', ['count', '--log-format=json'], [/it is a setting: CALLS_LOG_FORMAT in the environment\n/]],
  ['an option of other commands', ['get', '1', '--from', '7d'], [/it is an option of calls list --from, /]],
  ['the former name of -n', ['report', '--top', '3'], [/use --limit <n>/]],
  [
    'another word for the start',
    ['list', '--since', '2026-10-01'],
    [/no option --since/, /use --from <time>/],
  ],
  [
    '--format and another format',
    ['list', '--format', 'csv', '--json'],
    [/'--json' cannot be used with option '--format/],
  ],
  [
    'an option whose name is the former one of another option',
    ['sql', 'select 1', '--where', 'missed'],
    [/it is an option of calls list --where, calls count --where, /],
  ],
  [
    'a DuckDB file',
    ['sync', '--store', 'duckdb:calls.duckdb'],
    [/a store is SQLite or PostgreSQL, and not a DuckDB file/, /ATTACH 'calls\.db' \(TYPE sqlite\)/],
  ],
  [
    'a mistyped kind',
    ['sync', '--store', 'sqlit:foo'],
    [/--store: a store is sqlite:FILE or postgres:/, /did you mean sqlite:foo\?/],
  ],
  [
    'a condition that needs the other calls of a caller',
    ['list', '--where', "caller_type = 'returning'"],
    [/other calls of a caller needs a copy/, /calls sync/],
  ],
  [
    'a day and an end',
    ['count', '--period', '2026-10-02', '--from', '2026-10-01'],
    [/--period has both ends/],
  ],
  ['an unknown field in --fields', ['list', '--fields', 'sid,anni'], [/no field "anni"/, /did you mean ani/]],
  ['JSON as a format', ['list', '--format', 'json'], [/--format cannot be "json"/, /use --json/]],
  ['a format as an option', ['list', '--csv'], [/no option --csv/, /use --format csv\n/]],
  ['a format of a file as an option', ['export', '--parquet'], [/use --format parquet\n/]],
  ['--all with a limit', ['list', '--all', '-n', '5'], [/'--all' cannot be used with option '-n, --limit/]],
  ['a URL without https://', ['list', '--base-url', 'example.com'], [/begins with https/]],
  [
    'a URL with a password',
    ['list', '--base-url', 'https://me:hunter2@example.com'],
    [/must not have credentials in it/],
  ],
  ['an export without a file', ['export'], [/needs a file/]],
  ['a file as the end of the calls of demo', ['demo', '--to', 'x.csv'], [/--to must be a time, not "x.csv"/]],
  [
    'an extension that names no format',
    ['export', '--output', 'calls.txt'],
    [/extension does not name a format/],
  ],
  ['gzip in Parquet', ['export', '--output', 'calls.parquet.gz'], [/already compressed/]],
  [
    'an upload sheet without a time zone',
    ['sheet', 'sa360', '--output', 'x.csv', '--conversion-name', 'x'],
    [/needs a time zone/],
  ],
  [
    'an upload sheet without a conversion name',
    ['sheet', 'sa360', '--output', 'x.csv', '--time-zone', 'UTC'],
    [/--conversion-name is missing: it is the name of the conversion in Search Ads 360/],
  ],
  [
    'a value that is none',
    ['sheet', 'sa360', '-o', 'x', '--time-zone', 'UTC', '--conversion-name', 'x', '--value', 'usd'],
    [/must be an amount/],
  ],
  ...(
    [
      ['a currency of its own', ['--currency', 'USD'], [/no option --currency/, /use --value <amount>/]],
      [
        'the same file for the sheet and the calls left out of it',
        ['--left-out', './x'],
        [/name the same file/],
      ],
    ] as const
  ).map(([what, more, said]): [string, string[], RegExp[]] => [
    what,
    ['sheet', 'sa360', '--output', 'x', '--time-zone', 'UTC', '--conversion-name', 'x', ...more],
    [...said],
  ]),
  [
    'a value without an upload sheet',
    ['export', '--output', 'x.csv', '--value', '1'],
    [/no option --value/, /calls sheet --value/],
  ],
  [
    'fields with an upload sheet',
    ['sheet', 'skai', '--output', 'x.csv', '--time-zone', 'UTC', '--fields', 'sid'],
    [/no option --fields/, /calls list --fields, calls get --fields/],
  ],
  [
    'an unknown group',
    ['report', '--by', 'campain'],
    [/no field "campain" to group by. Did you mean campaign/],
  ],
  ['five groups', ['report', '--by', 'day,channel,label,state,city'], [/names 5 groups: 4 at most/]],
  ['a word with two meanings', ['report', '--by', 'page'], [/may mean landing_page or conversion_page/]],
  [
    'an unknown measure',
    ['report', '--measures', 'calls,mised'],
    [/no measure "mised". Did you mean missed/],
  ],
  ['an unknown column', ['report', '--order', 'callers'], [/no column "callers"/]],
  ['a comparison without a period', ['report', '--compare', 'previous'], [/needs a period with both ends/]],
  [
    'no period to compare with',
    ['report', '--period', '2026-10', '--compare', 'soon'],
    [/--compare is "soon", which is not a period/, /'previous', 'year', or a period such as/],
  ],
  ['no period', ['count', '--period', 'soon'], [/--period is "soon", which is not a period/, /'last month'/]],
  ['a condition with a mistake', ['report', '--where', 'talk_minutes > '], [/^calls: --where: /]],
  ['personal data in a page', ['report', '--by', 'ani', '-o', 'x.html'], [/personal data/]],
  ['no tool', ['sheet', '-o', 'x.csv'], [/missing required argument 'tool'/, /google-ads-clicks, .*marin/]],
  ['a removed command', ['watch'], [/no command "watch"/, /→ calls list --follow/]],
  ['a removed option', ['push', 'microsoft', '--wait', '5m'], [/no option --wait/, /calls push status/]],
  ['an unknown shell', ['completion', 'tcsh'], [/cannot be "tcsh"/, /bash, zsh, fish/]],
  [
    'sandbox options with a store',
    ['serve', '--store', 'sqlite::memory:', '--records', '5'],
    [/--records is for the sandbox/],
  ],
];
test.each(typed)(
  'it reports %s before it asks for keys, with status 2 and nothing on stdout',
  async (_, args, said) => {
    const { code, stdout, stderr } = await stage.quick(args, {
      env: { ...nobody, CALLS_BASE_URL: stage.url },
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const text of said) expect(stderr).toMatch(text);
    expect(stderr).not.toContain('hunter2');
    expect(stderr).not.toMatch(/\bat .*\.js:\d+/);
  },
);

test('a process ends the same way for an unknown option, a bad filter and missing keys', async () => {
  const option = await stage.calls(['list', '--feilds', 'sid']);
  expect(option).toMatchObject({ code: 2, stdout: '' });
  expect(option.stderr).toMatch(/no option --feilds\n {2}→ did you mean --fields/);
  const filter = await stage.quick(['count', '--q', 'talk_minutes:[1 to 2]']);
  expect(filter).toMatchObject({ code: 2, stdout: '' });
  expect(filter.stderr).toMatch(
    /\n {2}talk_minutes:\[1 to 2\]\n {17}\^\^\^\n {2}→ try --q 'talk_minutes:\[1 TO 2\]'\n$/,
  );
  expect(await stage.quick(['count'], { env: nobody })).toMatchObject({ code: 2, stdout: '' });
});

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
          (file) => file.endsWith('.ts') && !/completion|generated|report\/page|report\/html/.test(file),
        )
        .map((file) => `packages/${name}/src/${file}`),
    ),
  ];
  // Of npm, npx, Node.js and gcloud, and the one that is not a command's.
  const elsewhere = new Set([
    '--global',
    '--save-dev',
    '--yes',
    '--prefix',
    '--env-file',
    '--throw-deprecation',
    '--version',
    '--http',
  ]);
  const optionsOf = (name: string): readonly string[] | undefined => {
    const command = commands.find((known) => known.name === name);
    const flags = Object.keys(command?.options ?? {}).map((flags) => /--[\w-]+/.exec(flags)?.[0] ?? '');
    return command && [...flags, '--help', '--debug'];
  };
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
    // An option that was refused is named in the message about it, and a name to fill in has braces.
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
  }
  expect(strange).toEqual([]);
});
