import { UsageError } from './arguments.ts';

const command = 'npx';
const args = ['-y', '@call-attribution/mcp-server'];
const name = 'call-attribution';

/** Placeholders only: keys belong in the user's own files, not in terminals and their histories. */
const env = {
  CALLS_BASE_URL: 'https://YOUR-API-HOST',
  CALLS_ACCESS_KEY: 'YOUR-ACCESS-KEY',
  CALLS_SECRET_KEY: 'YOUR-SECRET-KEY',
};

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const servers = (): string => json({ mcpServers: { [name]: { command, args, env } } });
const flags = (flag: string): string =>
  Object.entries(env)
    .map(([key, value]) => `${flag} ${key}=${value}`)
    .join(' ');

const writers: Readonly<Record<string, () => { where: string; text: string }>> = {
  claude: () => ({
    where: 'Claude Desktop: Settings, Developer, Edit Config (claude_desktop_config.json)',
    text: servers(),
  }),
  'claude-code': () => ({
    where: 'Claude Code: run',
    text: `claude mcp add ${name} ${flags('--env')} -- ${command} ${args.join(' ')}\n`,
  }),
  cursor: () => ({ where: 'Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json in a project', text: servers() }),
  vscode: () => ({
    where: 'VS Code: .vscode/mcp.json (it prompts for the keys and stores them)',
    text: json({
      inputs: [
        { type: 'promptString', id: 'access-key', description: 'Access key' },
        { type: 'promptString', id: 'secret-key', description: 'Secret key', password: true },
      ],
      servers: {
        [name]: {
          type: 'stdio',
          command,
          args,
          env: { ...env, CALLS_ACCESS_KEY: inputOf('access-key'), CALLS_SECRET_KEY: inputOf('secret-key') },
        },
      },
    }),
  }),
  codex: () => ({
    where: 'Codex: ~/.codex/config.toml',
    text: [
      `[mcp_servers.${name}]`,
      `command = "${command}"`,
      `args = ${JSON.stringify(args)}`,
      '',
      `[mcp_servers.${name}.env]`,
      ...Object.entries(env).map(([key, value]) => `${key} = "${value}"`),
      '',
    ].join('\n'),
  }),
  gemini: () => ({ where: 'Gemini CLI: ~/.gemini/settings.json', text: servers() }),
  windsurf: () => ({ where: 'Windsurf: ~/.codeium/windsurf/mcp_config.json', text: servers() }),
  zed: () => ({
    where: 'Zed: settings.json',
    text: json({ context_servers: { [name]: { source: 'custom', command, args, env } } }),
  }),
};

/** How VS Code refers to an input. */
function inputOf(id: string): string {
  return `\${input:${id}}`;
}

/** Hosts that `--print-config` knows. */
export const hosts: readonly string[] = Object.keys(writers);

/** The configuration of a host: where it goes, and the text to put there. */
export function printConfig(host: string): { where: string; text: string } {
  const write = Object.hasOwn(writers, host) ? writers[host] : undefined;
  if (!write) throw new UsageError(`--print-config does not know "${host}"; it knows ${hosts.join(', ')}.`);
  return write();
}
