/** The kinds of requests a fault can be limited to. */
export type RequestKind = 'list' | 'single' | 'count' | 'sms';

/** The shapes in which a count may come. */
export type CountShape = 'number' | 'text' | 'object' | 'array' | 'header';

/** One thing that goes wrong, and for which requests. All that is left out stays as it should be. */
export interface Fault {
  /** Milliseconds to wait before anything else. */
  readonly latency?: number;
  /** Reply with this status and a problem document instead of the records. */
  readonly status?: number;
  /** The Retry-After header of that answer: seconds or an HTTP date. */
  readonly retryAfter?: string;
  /** Reply with an HTML page, as gateways and login walls do; status 200 unless `status` says else. */
  readonly html?: boolean;
  /** Close the connection after this share (0 to 1) of the body. */
  readonly cut?: number;
  /** Fall silent after this share (0 to 1) of the body, with the connection left open. */
  readonly stall?: number;
  /** Close the connection without an answer. */
  readonly reset?: boolean;
  /** Never give more rows than this, however many were asked for. */
  readonly clamp?: number;
  /** Start the page this many records too late, as when records are added or removed between two pages. */
  readonly shift?: number;
  /** Reply a single record as an object or as an array of one. */
  readonly single?: 'object' | 'array';
  /** Reply a count in this shape. */
  readonly count?: CountShape;

  /** Only requests of this kind. */
  readonly on?: RequestKind;
  /** Leave the first so many requests alone. */
  readonly after?: number;
  /** Only so many requests, then never again. */
  readonly times?: number;
  /** Only each n-th request. */
  readonly every?: number;
  /** Only this share (0 to 1) of the requests, drawn from the seed. */
  readonly share?: number;
}

const faultNames = [
  'latency',
  'status',
  'retry-after',
  'html',
  'cut',
  'stall',
  'reset',
  'clamp',
  'shift',
  'single',
  'count',
  'on',
  'after',
  'times',
  'every',
  'share',
] as const;

type FaultName = (typeof faultNames)[number];

const one = ['object', 'array'] as const;
const counts = ['number', 'text', 'object', 'array', 'header'] as const;
const kinds = ['list', 'single', 'count', 'sms'] as const;

/**
 * Reads faults from text: `status=429, retry-after=2, times=2; latency=200`. A semicolon parts faults, a comma the words
 * of one fault. Throws a FaultSyntaxError that names the word it cannot read.
 */
export function parseFaults(text: string): Fault[] {
  return text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => Object.assign({}, ...part.split(',').map((word) => readWord(word.trim()))) as Fault);
}

/** A fault text that cannot be read. */
export class FaultSyntaxError extends Error {
  override readonly name = 'FaultSyntaxError';
  readonly code = 'fault_syntax';
}

function readWord(word: string): Fault {
  const [name = '', ...rest] = word.split('=');
  const value = rest.join('=').trim();
  switch (name.trim() as FaultName) {
    case 'latency':
      return { latency: number(word, value, 0, 600_000) };
    case 'status':
      return { status: number(word, value, 200, 599) };
    case 'retry-after':
      return { retryAfter: filled(word, value) };
    case 'html':
      return { html: true };
    case 'cut':
      return { cut: value === '' ? 0.5 : number(word, value, 0, 1, false) };
    case 'stall':
      return { stall: value === '' ? 0.5 : number(word, value, 0, 1, false) };
    case 'reset':
      return { reset: true };
    case 'clamp':
      return { clamp: number(word, value, 1, 1e6) };
    case 'shift':
      return { shift: number(word, value, -1e6, 1e6) };
    case 'single':
      return { single: among(word, value, one) };
    case 'count':
      return { count: among(word, value, counts) };
    case 'on':
      return { on: among(word, value, kinds) };
    case 'after':
      return { after: number(word, value, 0, 1e9) };
    case 'times':
      return { times: number(word, value, 1, 1e9) };
    case 'every':
      return { every: number(word, value, 1, 1e9) };
    case 'share':
      return { share: number(word, value, 0, 1, false) };
    default:
      throw new FaultSyntaxError(`"${word}" is no fault: expected one of ${faultNames.join(', ')}`);
  }
}

function number(word: string, value: string, least: number, most: number, integer = true): number {
  const read = value === '' ? Number.NaN : Number(value);
  if (read >= least && read <= most && (!integer || Number.isInteger(read))) return read;
  const kind = integer ? 'a whole number' : 'a number';
  throw new FaultSyntaxError(`"${word}" cannot be read: expected ${kind} from ${least} to ${most} after "="`);
}

function filled(word: string, value: string): string {
  if (value !== '' && /^[\x20-\x7e]+$/.test(value)) return value;
  throw new FaultSyntaxError(`"${word}" cannot be read: expected seconds or a date after "="`);
}

function among<T extends string>(word: string, value: string, list: readonly T[]): T {
  const found = list.find((entry) => entry === value);
  if (found) return found;
  throw new FaultSyntaxError(`"${word}" cannot be read: expected one of ${list.join(', ')} after "="`);
}
