import { escapeControls } from '../errors/escape-controls.ts';
import { safeCaller } from '../tracing/safe-caller.ts';

/** From which level on something is logged; `off` is nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'off';

/** How `lineLogger` writes: `key=value` for people, or one JSON object per line. */
export type LogFormat = 'text' | 'json';

/** Names of the levels, from the most to the least that is logged. */
export const logLevels = [
  'debug',
  'info',
  'warn',
  'error',
  'off',
] as const satisfies readonly LogLevel[];

/** Names of the formats. */
export const logFormats = ['text', 'json'] as const satisfies readonly LogFormat[];

/**
 * What a client logs to: `console`, pino, bunyan, winston or the like. A logger with `child` but
 * without `log`, as pino and bunyan are, is called with `(fields, message)`; any other, as
 * `console` and winston are, with `(message, fields)`.
 */
export interface Logger {
  /** Each attempt. */
  debug(...line: unknown[]): unknown;
  /** Waits, retries that the server asked for, and what was not found. */
  info(...line: unknown[]): unknown;
  /** Reports, and retries after errors. */
  warn(...line: unknown[]): unknown;
  /** Requests that failed. */
  error(...line: unknown[]): unknown;
}

/** Values of a log line. Undefined ones are left out. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Writes a line of one level. */
export type WriteLog = (message: string, fields: LogFields) => void;

/**
 * The levels that are logged. The others are left out, so that their fields are not even put
 * together.
 */
export type Log = { readonly [level in keyof Logger]?: WriteLog };

/** Adapts a logger. A logger that throws does not fail the request. */
export function createLog(logger: Logger | undefined, least: LogLevel): Log {
  if (logger === undefined) return {};
  const isFieldsFirst = isFunction(logger, 'child') && !isFunction(logger, 'log');
  const safely = safeCaller('logger');

  const write =
    (level: keyof Logger): WriteLog =>
    (message, given) => {
      const fields = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      );
      const text = `call-attribution: ${message}`;
      safely(() => (isFieldsFirst ? logger[level](fields, text) : logger[level](text, fields)));
    };

  const levels = (['debug', 'info', 'warn', 'error'] as const).slice(logLevels.indexOf(least));
  return Object.fromEntries(levels.map((level) => [level, write(level)]));
}

const isFunction = (logger: object, name: string): boolean =>
  typeof Reflect.get(logger, name) === 'function';

/**
 * A logger that writes one line per entry: time, level, message and `key=value`, or a JSON object.
 * Without `write` it writes to stderr, so that stdout stays free for data.
 *
 * @example
 * const client = createClient({ logger: lineLogger('json'), logLevel: 'debug' });
 */
export function lineLogger(
  format: LogFormat = 'text',
  write: (line: string) => void = toStderr,
): Logger {
  const at =
    (level: keyof Logger) =>
    (...line: unknown[]) => {
      const [message, fields] = line;
      const time = new Date().toISOString();
      if (format === 'json')
        return write(escapeControls(JSON.stringify({ time, level, message, ...Object(fields) })));
      const values = Object.entries(Object(fields)).map(
        ([name, value]) => ` ${name}=${shown(value)}`,
      );
      write(escapeControls(`${time} ${level} ${message}${values.join('')}`));
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

// biome-ignore lint/suspicious/noConsole: unlike process.stderr.write, it ignores that stderr has been closed.
const toStderr = (line: string): void => console.error(line);

const shown = (value: unknown): string => {
  const text = String(value);
  return /^[^\s"=]+$/.test(text) || /^https?:\/\/\S+$/.test(text) ? text : JSON.stringify(text);
};
