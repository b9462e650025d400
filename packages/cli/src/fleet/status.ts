import type { AccountStatus, FleetStatus } from '@call-attribution/fleet';
import { count, plural, span } from '../terminal/numbers.ts';
import type { Style } from '../terminal/style.ts';
import { type Column, renderTable } from '../terminal/table.ts';
import { printable, wrap } from '../terminal/width.ts';

/** Time after which trouble that passes by itself is worth a look. */
const failingMs = 600_000;

/** Whether an account needs a look. */
export const hasTrouble = ({ state, whole, troubleForMs }: AccountStatus): boolean =>
  state === 'aside' || whole === false || (state === 'later' && troubleForMs >= failingMs);

/** Why an account is stuck; empty when it is not. */
export function whyText({ state, trouble, troubleForMs, whole, lacks }: AccountStatus): string {
  if (trouble === null) return whole === false ? (lacks ?? 'not whole') : '';
  const reason = reasonText(trouble.code, trouble.message);
  return state === 'later' ? `${reason}; for ${span(troubleForMs)}, tried again` : reason;
}

/** The code, and what happened. */
export const reasonText = (code: string, message: string | null): string =>
  message ? `${code}: ${message.replace(/\.$/, '')}` : code;

const workerColumns: readonly Column[] = [
  { title: 'WORKER', min: 12, rank: 0 },
  { title: 'VERSION', min: 7, rank: 8 },
  { title: 'SLOTS', align: 'right', min: 5, rank: 2 },
  { title: 'CALLS/S', align: 'right', min: 7, rank: 3 },
  { title: 'REQUESTS/S', align: 'right', min: 10, rank: 4 },
  { title: 'STATE', min: 7, rank: 1 },
];

const accountColumns: readonly Column[] = [
  { title: 'ACCOUNT', min: 8, rank: 0 },
  { title: 'STATE', min: 9, rank: 1 },
  { title: 'CALLS', align: 'right', min: 8, rank: 3 },
  { title: 'NEWEST', min: 10, rank: 4 },
  { title: 'WORKER', min: 6, rank: 5 },
];

/** How the status of a job is drawn. */
export interface ScreenOptions {
  /** Null: nothing is cut. */
  readonly width: number | null;
  readonly style: Style;
  /** All accounts, and not only ten of those that are stuck. */
  readonly all: boolean;
}

/** The status of a job for people: how far it is, who works, what is stuck, why, and what helps. */
export function statusScreen(status: FleetStatus, { width, style, all }: ScreenOptions): string[] {
  const { job, into, state, states, forMs, calls, total, workers, leftMs, lagMs, accounts } =
    status;
  const flow = (parts: readonly string[]): string[] => wrap(parts.join(', '), width ?? 1000);

  /** A table with the reasons below its rows, where they are never cut. */
  const table = (
    columns: readonly Column[],
    rows: readonly { cells: string[]; below: string[] }[],
  ) => {
    const [head = '', ...lines] = renderTable(
      columns,
      rows.map(({ cells }) => cells),
      { width, style },
    ).lines;
    const below = (at: number): string[] =>
      (rows[at]?.below ?? []).flatMap((text) => wrap(printable(text), (width ?? 1000) - 2));
    return [head, ...lines.flatMap((line, at) => [line, ...below(at).map((text) => `  ${text}`)])];
  };

  const isAtWork = workers.some((worker) => worker.state !== 'silent');
  const working = workers.map((worker) => {
    const { name, version, busy, slots, callsPerSecond, requestsPerSecond, silentForMs, why } =
      worker;
    const speed = [count(Math.round(callsPerSecond)), requestsPerSecond.toFixed(1)];
    let below = why === null ? [] : [why];
    if (worker.state === 'silent')
      below = [`no sign of life for ${span(silentForMs)}; others have its work`];
    return { cells: [name, version, `${busy}/${slots}`, ...speed, worker.state], below };
  });
  const counted = Object.entries({ ...states, 'set aside': states.aside, aside: 0 })
    .filter(([, accounts]) => accounts > 0)
    .map(([name, accounts]) => `${name} ${count(accounts)}`);
  const chosen = all ? accounts : accounts.filter(hasTrouble);
  const shown = all ? chosen : chosen.slice(0, 10);
  const stuck = shown.map((account) => {
    const { id, state, calls, total, whole, newest, worker } = account;
    const held = calls === null ? '' : count(calls);
    const isOpen = calls !== null && whole === null && total !== null;
    const why = whyText(account);
    return {
      cells: [
        id,
        state === 'aside' ? 'set aside' : state,
        isOpen ? `${held} of ${count(total)}` : held,
        newest ?? '',
        worker ?? '',
      ],
      below: [
        ...(why === '' ? [] : [why]),
        ...(state === 'aside' ? [`→ calls fleet retry ${job} --account ${id}`] : []),
      ],
    };
  });
  const isRunning = state === 'running';
  const over = states.aside === 0 ? 'done' : 'done, except what is set aside';

  // How far it is by the counts of the servers, else by accounts.
  let share = 1;
  if (total !== null && total > 0) share = Math.min(1, calls / total);
  else if (accounts.length > 0)
    share = accounts.filter(({ whole }) => whole !== null).length / accounts.length;

  return [
    ...flow([
      `${job} ${isRunning ? `running for ${span(forMs)}` : over}`,
      `into ${printable(into)}`,
    ]),
    ...flow([
      `${(Math.floor(share * 1000) / 10).toFixed(1)} %`,
      total === null ? plural(calls, 'call') : `${count(calls)} of ${plural(total, 'call')}`,
      ...(workers.length === 0
        ? []
        : [
            `${count(Math.round(status.callsPerSecond))} calls/s`,
            `${status.requestsPerSecond.toFixed(1)} requests/s`,
          ]),
      ...(isRunning && leftMs !== null && leftMs > 0 ? [`about ${span(leftMs)} left`] : []),
    ]),
    ...(isRunning && !isAtWork
      ? [style.yellow('no worker is at work → calls fleet work JOB.json')]
      : []),
    ...(working.length > 0 ? ['', ...table(workerColumns, working)] : []),
    '',
    ...flow([
      ...counted,
      ...(lagMs === null ? [] : [`each read in the last ${span(lagMs)}`]),
      ...(all ? [] : ['--all lists all accounts']),
    ]),
    ...(stuck.length > 0 ? table(accountColumns, stuck) : []),
    ...(chosen.length > shown.length ? [`and ${count(chosen.length - shown.length)} more`] : []),
  ];
}
