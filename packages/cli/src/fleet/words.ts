import type { AccountStatus, FleetStatus, WorkerStatus } from '@call-attribution/fleet';
import { count, plural, span } from '../term/numbers.ts';

// What a status says, in words. Where each figure goes is decided by the screens.

/** Time after which trouble that passes by itself is worth a look. */
const failingMs = 600_000;

/** `running for 13 h 42 min`. */
export function stateText({ state, forMs, states }: FleetStatus): string {
  const done = states.aside === 0 ? 'done' : 'done, except what is set aside';
  return state === 'running' ? `running for ${span(forMs)}` : done;
}

/** How much of the calls is there, from 0 to 1: by the counts of the servers, else by accounts. */
export function shareOf({ calls, total, accounts }: FleetStatus): number {
  if (total !== null && total > 0) return Math.min(1, calls / total);
  const read = accounts.filter(({ whole }) => whole !== null).length;
  return accounts.length > 0 ? read / accounts.length : 1;
}

/** `612,004,118 of 1,000,301,772 calls`. */
export const progressTexts = ({ calls, total }: FleetStatus): readonly string[] => [
  total === null ? plural(calls, 'call') : `${count(calls)} of ${plural(total, 'call')}`,
];

/** `12,410 calls/s`, `14.1 requests/s`, `about 8 h 41 min left`. */
export function paceTexts(status: FleetStatus): readonly string[] {
  const { callsPerSecond, requestsPerSecond, leftMs, workers } = status;
  if (workers.length === 0) return [];
  return [
    `${count(Math.round(callsPerSecond))} calls/s`,
    `${requestsPerSecond.toFixed(1)} requests/s`,
    ...(leftMs === null || leftMs === 0 || status.state !== 'running' ? [] : [`about ${span(leftMs)} left`]),
  ];
}

/** `working 3`, `waiting 311`: the states that have accounts. */
export function stateTexts({ states, lagMs }: FleetStatus): readonly string[] {
  const lag = lagMs === null ? '' : ` (${span(lagMs)} ago at most)`;
  return [
    ...(states.working > 0 ? [`working ${count(states.working)}`] : []),
    ...(states.waiting > 0 ? [`waiting ${count(states.waiting)}`] : []),
    ...(states.later > 0 ? [`later ${count(states.later)}`] : []),
    ...(states.read > 0 ? [`read ${count(states.read)}${lag}`] : []),
    ...(states.done > 0 ? [`done ${count(states.done)}`] : []),
    ...(states.aside > 0 ? [`set aside ${count(states.aside)}`] : []),
  ];
}

/** Whether an account needs a look. */
export const hasTrouble = ({ state, whole, troubleForMs }: AccountStatus): boolean =>
  state === 'aside' || whole === false || (state === 'later' && troubleForMs >= failingMs);

/** How an account is, in one or two words. */
export function accountState({ state, troubleForMs }: AccountStatus): string {
  if (state === 'later') return troubleForMs >= failingMs ? 'failing' : 'later';
  return state === 'aside' ? 'set aside' : state;
}

/** Why an account is stuck; empty when it is not. */
export function whyText({ state, trouble, troubleForMs, whole, lacks }: AccountStatus): string {
  if (trouble !== null) {
    const reason = reasonText(trouble.code, trouble.message);
    return state === 'later' ? `${reason}; for ${span(troubleForMs)}, tried again` : reason;
  }
  return whole === false ? (lacks ?? 'not whole') : '';
}

/** The code, and what happened in one sentence. The way out comes after it in a message, and has a line of its own. */
export function reasonText(code: string, message: string | null): string {
  const [first = ''] = (message ?? '').split(/(?<=[.?!]) (?=[A-Z])/);
  const sentence = first.replace(/\.$/, '');
  return sentence === '' || sentence.startsWith(code) ? sentence || code : `${code}: ${sentence}`;
}

/** Why a worker does not work; empty when it does. */
export function workerWhy({ state, why, silentForMs }: WorkerStatus): string {
  return state === 'silent' ? `no sign of life for ${span(silentForMs)}; others have its work` : (why ?? '');
}
