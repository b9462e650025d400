import { CallsError, type ErrorCode } from '@call-attribution/core';
import type {
  CheckpointErrorCode,
  IncompleteErrorCode,
  ItemErrorCode,
  StateErrorCode,
  StreamErrorCode,
} from '@call-attribution/node-stream';
import type { StoreErrorCode } from '@call-attribution/store';
import type { FleetErrorCode } from '../errors.ts';

/**
 * Whose trouble an error is, and with it what happens.
 * `lost`: another worker has the same claim; forgotten.
 * `credential`: the keys are missing or refused; the account is set aside at once.
 * `server`: the API is away or busy; tried later, without end.
 * `parcel`: the parcel itself; tried again a few times, then set aside.
 * `target`: the disk or database is away or full; the worker rests, the parcel is free for others.
 * `board`: the board is away; what is under way is ended, nothing new is taken.
 */
export type TroubleKind = 'lost' | 'credential' | 'server' | 'parcel' | 'target' | 'board';

/** Codes of the packages that a turn can end with. */
type Code =
  | ErrorCode
  | StreamErrorCode
  | IncompleteErrorCode
  | ItemErrorCode
  | CheckpointErrorCode
  | StateErrorCode
  | StoreErrorCode
  | FleetErrorCode
  | 'file_locked';

/** One line for each code, so that a new code does not compile until somebody has decided. */
export const troubleKinds: Readonly<Record<Code, TroubleKind>> = {
  // core: options and credentials.
  invalid_option: 'parcel',
  invalid_argument: 'parcel',
  invalid_settings: 'credential',
  missing_auth: 'credential',
  auth_mismatch: 'credential',
  invalid_credentials: 'credential',
  missing_legacy_url: 'parcel',
  missing_package: 'target',
  sender_failed: 'parcel',
  client_closed: 'server',
  invalid_input: 'parcel',
  // core: what the API answers. A wrong URL, a login page or a page that says "back soon" is not the fault of one parcel.
  bad_request: 'parcel',
  unauthorized: 'credential',
  forbidden: 'credential',
  not_found: 'server',
  rate_limited: 'server',
  request_timeout: 'server',
  request_rejected: 'parcel',
  server_error: 'server',
  redirect_refused: 'server',
  proxy_refused: 'server',
  wrong_content_type: 'server',
  html_page: 'server',
  unexpected_shape: 'server',
  error_body: 'server',
  invalid_json: 'parcel',
  invalid_xml: 'parcel',
  bad_encoding: 'parcel',
  body_too_large: 'parcel',
  invalid_record: 'parcel',
  wrong_page: 'parcel',
  range_mismatch: 'parcel',
  page_clamped: 'parcel',
  list_short: 'parcel',
  list_moved: 'parcel',
  count_unreadable: 'parcel',
  sms_failed: 'parcel',
  sms_count_mismatch: 'parcel',
  // core: the way to the API.
  dns_failed: 'server',
  connection_failed: 'server',
  connection_lost: 'server',
  protocol_error: 'server',
  tls_failed: 'server',
  proxy_failed: 'server',
  connect_timeout: 'server',
  idle_timeout: 'server',
  attempt_timeout: 'server',
  total_timeout: 'server',
  // node-stream.
  range_ignored: 'parcel',
  read_failed: 'parcel',
  incomplete: 'parcel',
  checkpoint_mismatch: 'parcel',
  checkpoint_invalid: 'parcel',
  state_invalid: 'parcel',
  state_locked: 'server',
  file_locked: 'target',
  unfit_value: 'parcel',
  unreadable_time: 'parcel',
  late_item: 'parcel',
  out_of_order: 'parcel',
  repeated_key: 'parcel',
  too_many_groups: 'parcel',
  line_too_long: 'parcel',
  // store.
  store_url: 'target',
  store_version: 'target',
  store_missing: 'target',
  invalid_sql: 'parcel',
  time_limit: 'parcel',
  store_unavailable: 'target',
  store_damaged: 'target',
  store_busy: 'target',
  store_failed: 'parcel',
  disk_full: 'target',
  claim_lost: 'lost',
  unknown_account: 'parcel',
  unfit_record: 'parcel',
  short_page: 'parcel',
  not_a_sandbox: 'target',
  unfit_filter: 'parcel',
  // fleet.
  job_invalid: 'parcel',
  job_differs: 'target',
  job_newer: 'board',
  unknown_job: 'board',
  credential_missing: 'credential',
  board_unavailable: 'board',
  board_unfit: 'board',
  target_unavailable: 'target',
  target_unfit: 'target',
};

/** What a worker has to know about an error. */
export interface Trouble {
  readonly kind: TroubleKind;
  /** Code of the error, of at most 40 characters. */
  readonly code: string;
  /** What happened, in at most 300 characters, without a secret and without data of a caller. */
  readonly message: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly waitMs: number;
}

/** Looks an error up. One that nobody knows is the parcel's, so that it ends: with the parcel set aside and named. */
export function troubleOf(error: unknown): Trouble {
  if (!CallsError.is(error)) {
    const code = foreignCode(error);
    const kind = foreignKind(code);
    return { kind, code, message: `${places[kind]} failed with ${code}.`, waitMs: 0 };
  }
  const kind = (troubleKinds as Readonly<Record<string, TroubleKind>>)[error.code] ?? 'parcel';
  // The message of an error that is not ours may quote what it was about.
  const message = error.code === 'read_failed' ? 'A page could not be read.' : error.summary;
  return { kind, code: error.code, message: brief(message), waitMs: error.retryAfterMs ?? 0 };
}

/** A message as it may be kept on the board. */
export const brief = (text: string, most = 300): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
};

const places: Readonly<Record<TroubleKind, string>> = {
  lost: 'The claim',
  credential: 'The credentials',
  server: 'The API',
  parcel: 'Reading',
  target: 'The target',
  board: 'The board',
};

/** The code of an error of Node.js, PostgreSQL or SQLite; otherwise the name of its class. */
function foreignCode(error: unknown): string {
  const { code, name } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown;
    name?: unknown;
  };
  const text = typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
  return /^[A-Za-z0-9_]{1,40}$/.test(text) ? text : 'unknown';
}

/**
 * Errors that are not of the packages. Those of the API arrive as ours, so a system error is the target's. By SQLSTATE: the server
 * ended a transaction that stood still, in which nothing can be lost; connections (08), resources and disk (53), the operator or
 * a restart (57P), input and output (58).
 */
function foreignKind(code: string): TroubleKind {
  if (code === '25P03') return 'lost';
  if (/^(?:08...|53...|57P..|58...)$/.test(code)) return 'target';
  if (/^SQLITE_(?:FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN)/.test(code)) return 'target';
  return /^E[A-Z0-9]{2,}$/.test(code) || code.startsWith('UND_ERR_') ? 'target' : 'parcel';
}

/** Waits that grow: `first` after one failure, doubled with each further one, up to `most`. */
export const backOff = (failures: number, first: number, most: number): number =>
  Math.min(most, first * 2 ** Math.min(30, Math.max(0, failures - 1)));

const second = 1000;

/** How long a parcel or an account waits after so many failures in a row, in milliseconds. */
export const retryWait = (failures: number): number => backOff(failures, second, 120 * second);

/** How long a lane waits whose server has been away for so long: as long again, from 1 second up to 2 minutes. */
export const serverWait = (failingMs: number, askedMs: number): number =>
  Math.max(askedMs, Math.min(120 * second, Math.max(second, failingMs)));

/** How long a worker rests after so many failures of the target in a row. */
export const restWait = (failures: number): number => backOff(failures, 5 * second, 60 * second);
