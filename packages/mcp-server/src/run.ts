import { parseArgs } from 'node:util';
import { type Client, ConfigurationError, createClient } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl';
import { type McpChoices, mcpOptions } from './options.ts';
import { problemsOf, type ServeIo, serveProgram } from './serve-program.ts';
import { version } from './server.ts';
import { connectionOf, readAccounts, readSettings, type Settings } from './settings/index.ts';
import { ToolError } from './text/failures.ts';

const lines: Readonly<Record<string, string>> = {
  ...mcpOptions,
  '--account <names>': 'answer for accounts of the configuration file: main or main,berlin',
  '--all-accounts': 'answer for all of them',
  '--help': 'print this',
  '--version': 'print the version',
};

/** Runs the program and resolves to its exit status. */
export async function run(argv: readonly string[], io: ServeIo): Promise<number> {
  const clients: Client[] = [];
  try {
    const values = optionsIn(argv);
    if (values.help === true || values.version === true) {
      io.write(values.help === true ? help() : `${version}\n`);
      return 0;
    }
    const { account, allAccounts, ...choices } = values;
    const names = allAccounts === true ? 'all' : (account as string[] | undefined);
    const settings =
      names === undefined ? [readSettings({ env: io.env })] : readAccounts(names, { env: io.env });
    const accounts = settings.map((own) => ({
      name: own.account?.name ?? 'main',
      settings: own,
      client: () => {
        const client = clientFrom(own);
        clients.push(client);
        return client;
      },
    }));
    return await serveProgram(accounts, choices as McpChoices, io);
  } catch (error) {
    const isUsage = error instanceof ConfigurationError && error.code === 'invalid_option';
    io.log(
      `${error instanceof Error ? error.message : String(error)}${isUsage ? '\nSee call-attribution-mcp --help.' : ''}`,
    );
    return isUsage ? 2 : 1;
  } finally {
    for (const client of clients) await client.close();
  }
}

const isTextLine = (line: string): boolean => line.includes('<');
const isListLine = (line: string): boolean => /<(?:names|kinds)>/.test(line);
const nameOf = (line: string): string => line.slice(2).replace(/ .*/, '');
const camel = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** What the command line says, by the names of `McpChoices`. */
function optionsIn(argv: readonly string[]): Record<string, unknown> {
  const options = Object.fromEntries(
    Object.keys(lines).map((line) => [
      nameOf(line),
      isTextLine(line) ? { type: 'string' as const, multiple: true } : { type: 'boolean' as const },
    ]),
  );
  try {
    const { values } = parseArgs({
      args: [...argv].map((each) => (each === '-h' ? '--help' : each)),
      ...{ options, strict: true, allowPositionals: false },
    });
    return Object.fromEntries(
      Object.keys(lines).flatMap((line) => {
        const value = values[nameOf(line)];
        if (value === undefined) return [];
        if (!Array.isArray(value)) return [[camel(nameOf(line)), value]];
        const list = value
          .flatMap((each) => String(each).split(','))
          .map((each) => each.trim())
          .filter((each) => each !== '');
        return [[camel(nameOf(line)), isListLine(line) ? list : value.at(-1)]];
      }),
    );
  } catch (error) {
    const message = error instanceof Error ? error.message.split('. ')[0] : String(error);
    const flag = argv.find(
      (each) => each.startsWith('--') && !Object.hasOwn(options, each.slice(2).split('=')[0] ?? ''),
    );
    const meant = flag === undefined ? undefined : nearest(flag, Object.keys(options));
    throw new ConfigurationError(
      'invalid_option',
      `${message}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`,
    );
  }
}

/** Milliseconds of silence after which the API is taken to be stuck. */
const stuckMs = 9500;

/** Makes the client. Throws an error that tells the agent which variable is missing. */
export function clientFrom(settings: Settings): Client {
  const problems = problemsOf(settings);
  const { baseUrl } = settings;
  if (problems.length > 0 || baseUrl === null) throw new ToolError({ code: 'missing_settings', problems });
  return createClient({
    ...connectionOf(settings),
    baseUrl: baseUrl.value,
    // Somebody waits for the answer: an API that is stuck is reported within ten seconds, a slow one may go on.
    timeout: { connect: stuckMs, idle: stuckMs, attempt: 40_000, total: 40_000 },
    retry: { attempts: 3, afterSilence: false },
  });
}

const help =
  (): string => `call-attribution-mcp: call records for AI assistants, over the Model Context Protocol

Usage
  call-attribution-mcp                        serve on stdin and stdout, as hosts start it
  call-attribution-mcp --http 127.0.0.1:3000  serve on http://127.0.0.1:3000/mcp
  call-attribution-mcp --check                test the credentials and say what works
  calls mcp takes the same options.

Options
${Object.entries(lines)
  .map(([line, text]) => `  ${line.padEnd(32)} ${text}`)
  .join('\n')}

Environment
  CALLS_BASE_URL         URL of the API (required)
  CALLS_ACCESS_KEY       access key (v3)
  CALLS_SECRET_KEY       secret key (v3)
  CALLS_BEARER_TOKEN     token to use instead of the keys (required for v2)
  CALLS_..._FILE         file with one of the three above, such as CALLS_SECRET_KEY_FILE
  CALLS_CONFIG           configuration file (default: that of the user, such as ~/.config/call-attribution/calls.config.json)
  CALLS_API_VERSION      v2 or v3 (default v3)
  CALLS_LEGACY_BASE_URL  URL of the SMS number listing
  CALLS_TIME_ZONE        time zone of the account's times; shown to the assistant, no time is converted
  CALLS_TIMEOUT          how long a request may take, such as 3m (default 1m)
  CALLS_LOG              log requests to stderr: debug, info, warn or error; CALLS_LOG_FORMAT=json for JSON lines
  CALLS_MCP_TOKEN        bearer token that HTTP clients must send
`;
