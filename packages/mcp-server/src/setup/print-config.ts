import { type Environment, readVariable } from '@call-attribution/core/settings';
import { UsageError } from './arguments.ts';

const name = 'call-attribution';
const command = 'npx';

/** Placeholders only: keys belong in the user's own files, not in terminals and their histories. */
const placeholders: Readonly<Record<string, string>> = {
  CALLS_BASE_URL: 'https://YOUR-API-HOST',
  CALLS_ACCESS_KEY: 'YOUR-ACCESS-KEY',
  CALLS_SECRET_KEY: 'YOUR-SECRET-KEY',
  CALLS_BEARER_TOKEN: 'YOUR-TOKEN',
};

/** Variables without a secret, which a host has to pass on. */
const plain = [
  'CALLS_CONFIG',
  'CALLS_BASE_URL',
  'CALLS_ACCESS_KEY_FILE',
  'CALLS_SECRET_KEY_FILE',
  'CALLS_BEARER_TOKEN_FILE',
  'CALLS_API_VERSION',
  'CALLS_LEGACY_BASE_URL',
  'CALLS_TIME_ZONE',
  'CALLS_TIMEOUT',
  'CALLS_LOG',
  'CALLS_LOG_FORMAT',
];

/** What a host starts. */
interface Start {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const servers = ({ args, env }: Start): string => json({ mcpServers: { [name]: { command, args, env } } });

/** A word of a shell. */
const word = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

const writers: Readonly<Record<string, { where: string; write(start: Start): string }>> = {
  claude: {
    where: 'Claude Desktop: Settings, Developer, Edit Config (claude_desktop_config.json)',
    write: servers,
  },
  'claude-code': {
    where: 'Claude Code: run',
    write({ args, env }) {
      const variables = Object.entries(env).map(([key, value]) => `--env ${word(`${key}=${value}`)} `);
      return `claude mcp add ${name} ${variables.join('')}-- ${command} ${args.map(word).join(' ')}\n`;
    },
  },
  cursor: { where: 'Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json in a project', write: servers },
  vscode: {
    where: 'VS Code: .vscode/mcp.json (it prompts for the keys and stores them)',
    write({ args, env }) {
      const secrets = Object.keys(env).filter((key) => key !== 'CALLS_BASE_URL' && isPlaceholder(key, env));
      const asked = secrets.map(
        (key) => [key, key.slice('CALLS_'.length).toLowerCase().replace('_', '-')] as const,
      );
      return json({
        inputs: asked.map(([key, id]) => ({
          type: 'promptString',
          id,
          description: `${id.charAt(0).toUpperCase()}${id.slice(1).replace('-', ' ')}`,
          ...(key === 'CALLS_ACCESS_KEY' ? {} : { password: true }),
        })),
        servers: {
          [name]: {
            type: 'stdio',
            command,
            args,
            env: { ...env, ...Object.fromEntries(asked.map(([key, id]) => [key, `\${input:${id}}`])) },
          },
        },
      });
    },
  },
  codex: {
    where: 'Codex: ~/.codex/config.toml',
    write: ({ args, env }) =>
      [
        `[mcp_servers.${name}]`,
        `command = "${command}"`,
        `args = ${JSON.stringify(args)}`,
        '',
        `[mcp_servers.${name}.env]`,
        ...Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
        '',
      ].join('\n'),
  },
  gemini: { where: 'Gemini CLI: ~/.gemini/settings.json', write: servers },
  windsurf: { where: 'Windsurf: ~/.codeium/windsurf/mcp_config.json', write: servers },
  zed: {
    where: 'Zed: settings.json',
    write: ({ args, env }) => json({ context_servers: { [name]: { source: 'custom', command, args, env } } }),
  },
};

/** Hosts that `--print-config` knows. */
export const hosts: readonly string[] = Object.keys(writers);

/** The configuration of a host: where it goes, and the text to put there. It carries the options and the settings given. */
export function printConfig(
  host: string,
  given: readonly string[] = [],
  env: Environment = {},
): { where: string; text: string } {
  const writer = Object.hasOwn(writers, host) ? writers[host] : undefined;
  if (!writer) throw new UsageError(`--print-config does not know "${host}"; it knows ${hosts.join(', ')}.`);
  const start = { args: [...packagesFor(given), ...given], env: variables(given, env) };
  return { where: writer.where, text: writer.write(start) };
}

/** npx installs what it is told to: a local copy needs a second package. */
const packagesFor = (given: readonly string[]): readonly string[] =>
  given.includes('--mirror')
    ? [
        '-y',
        '-p',
        '@call-attribution/mcp-server',
        '-p',
        '@call-attribution/warehouse',
        'call-attribution-mcp',
      ]
    : ['-y', '@call-attribution/mcp-server'];

const isPlaceholder = (key: string, env: Readonly<Record<string, string>>): boolean =>
  Object.hasOwn(placeholders, key) && env[key] === placeholders[key];

/** The settings of this process, with placeholders for those that are secret or missing. */
function variables(given: readonly string[], env: Environment): Record<string, string> {
  const known = plain.flatMap((key) => {
    const value = readVariable(env, key);
    return value === null || hasCredentials(value) ? [] : [[key, value] as const];
  });
  const set = Object.fromEntries(known);
  // The configuration file has the credentials of its accounts.
  if (given.includes('--account') || given.includes('--all-accounts')) return set;
  const usesToken =
    readVariable(env, 'CALLS_API_VERSION') === 'v2' ||
    readVariable(env, 'CALLS_BEARER_TOKEN') !== null ||
    set.CALLS_BEARER_TOKEN_FILE !== undefined;
  const needed = usesToken ? ['CALLS_BEARER_TOKEN'] : ['CALLS_ACCESS_KEY', 'CALLS_SECRET_KEY'];
  const missing = ['CALLS_BASE_URL', ...needed].filter(
    (key) => set[key] === undefined && set[`${key}_FILE`] === undefined,
  );
  return { ...Object.fromEntries(missing.map((key) => [key, placeholders[key] ?? ''])), ...set };
}

const hasCredentials = (value: string): boolean =>
  URL.canParse(value) && (new URL(value).username !== '' || new URL(value).password !== '');
