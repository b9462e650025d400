import type { AccountStatus, FleetStatus, WorkerStatus } from '@call-attribution/fleet';
import { bar } from '../term/chart.ts';
import { count, plural } from '../term/numbers.ts';
import type { Style } from '../term/style.ts';
import { type Column, renderTable } from '../term/table.ts';
import { fit, printable, textWidth, wrap } from '../term/width.ts';
import {
  accountState,
  hasTrouble,
  paceTexts,
  progressTexts,
  shareOf,
  stateText,
  stateTexts,
  whyText,
  workerWhy,
} from './words.ts';

/** How a status is drawn. */
export interface ScreenOptions {
  /** Null: nothing is cut. */
  readonly width: number | null;
  readonly style: Style;
  /** All accounts, and not only those that are stuck. */
  readonly all?: boolean;
}

/** Most accounts and workers that are listed, when not all are asked for. */
const most = 10;

/** The status of a job for people: how far it is, who works, what is stuck, why, and what helps. */
export function statusScreen(status: FleetStatus, options: ScreenOptions): string[] {
  const { style, width, all = false } = options;
  const { job, accounts } = status;
  const shown = all ? accounts : accounts.filter(hasTrouble);
  const chosen = all ? shown : shown.slice(0, most);
  return [
    ...flow([style.bold(job), paint(status, style), `into ${printable(status.into)}`], width),
    ...flow([gauge(shareOf(status), width), ...progressTexts(status)], width),
    ...flow(paceTexts(status), width),
    ...alerts(status, options),
    ...workerLines(status.workers, options),
    '',
    ...flow([...stateTexts(status), ...(all ? [] : ['(--all lists all accounts)'])], width),
    ...accountLines(chosen, job, options),
    ...(shown.length > chosen.length ? [`and ${count(shown.length - chosen.length)} more`] : []),
  ];
}

/** One line for a log. */
export function statusLine(status: FleetStatus): string {
  const troubled = status.accounts.filter(hasTrouble).length;
  const { workers } = status;
  const living = workers.filter(({ state }) => state !== 'silent').length;
  return [
    `${status.job} ${stateText(status)}`,
    percent(shareOf(status)),
    ...progressTexts(status),
    ...paceTexts(status),
    plural(living, 'worker'),
    ...stateTexts(status),
    ...(troubled > 0 ? [`${plural(troubled, 'account')} with trouble`] : []),
  ].join('  ');
}

const percent = (share: number): string => `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;

function paint(status: FleetStatus, style: Style): string {
  const text = stateText(status);
  return status.state === 'running' ? style.green(text) : text;
}

/** Parts next to each other, on as many lines as they need. */
function flow(parts: readonly string[], width: number | null): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = last === undefined ? part : `${last}   ${part}`;
    if (last === undefined || (width !== null && visible(joined) > width)) lines.push(part);
    else lines[lines.length - 1] = joined;
  }
  return lines.map((line) => (width === null || visible(line) <= width ? line : fit(line, width)));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors take no place.
const visible = (text: string): number => textWidth(text.replace(/\u001b\[\d+m/g, ''));

function gauge(share: number, width: number | null): string {
  const cells = Math.min(30, Math.max(10, (width ?? 100) - 40));
  const full = bar(share, 1, cells);
  return `${full}${'░'.repeat(Math.max(0, cells - textWidth(full)))}  ${percent(share)}`;
}

/** What needs somebody, before any table. */
function alerts(status: FleetStatus, { style, width }: ScreenOptions): string[] {
  const { state, workers } = status;
  const living = workers.filter(({ state }) => state !== 'silent');
  const resting = living.filter(({ state }) => state === 'resting');
  const lines: string[] = [];
  if (state === 'running' && living.length === 0)
    lines.push('no worker is at work → calls fleet work JOB.json');
  else if (living.length > 0 && resting.length === living.length)
    lines.push(`all workers rest: ${printable(resting[0]?.why ?? '')}`);
  return lines.map((line) => style.yellow(width === null ? line : fit(line, width)));
}

const workerColumns: readonly Column[] = [
  { title: 'WORKER', min: 12, rank: 0 },
  { title: 'VERSION', min: 7, rank: 8 },
  { title: 'SLOTS', align: 'right', min: 5, rank: 2 },
  { title: 'CALLS/S', align: 'right', min: 7, rank: 3 },
  { title: 'REQUESTS/S', align: 'right', min: 10, rank: 4 },
  { title: 'STATE', min: 7, rank: 1 },
];

function workerLines(workers: readonly WorkerStatus[], options: ScreenOptions): string[] {
  if (workers.length === 0) return [];
  // Those that need a look come first where not all are shown.
  const ranked = [...workers].sort((a, b) => Number(a.state === 'working') - Number(b.state === 'working'));
  const chosen = options.all || workers.length <= most ? workers : ranked.slice(0, most);
  const rows = chosen.map((worker) => ({
    cells: [
      worker.name,
      worker.version,
      `${worker.busy}/${worker.slots}`,
      count(Math.round(worker.callsPerSecond)),
      worker.requestsPerSecond.toFixed(1),
      worker.state,
    ],
    why: workerWhy(worker),
    help: null,
  }));
  const left = workers.length - chosen.length;
  return [
    '',
    ...tableWithReasons(workerColumns, rows, options),
    ...(left > 0 ? [`and ${plural(left, 'more worker')}`] : []),
  ];
}

const accountColumns: readonly Column[] = [
  { title: 'ACCOUNT', min: 8, rank: 0 },
  { title: 'STATE', min: 9, rank: 1 },
  { title: 'CALLS', align: 'right', min: 8, rank: 3 },
  { title: 'NEWEST', min: 10, rank: 4 },
  { title: 'WORKER', min: 6, rank: 5 },
];

function accountLines(accounts: readonly AccountStatus[], job: string, options: ScreenOptions): string[] {
  if (accounts.length === 0) return [];
  const rows = accounts.map((account) => ({
    cells: [
      account.id,
      accountState(account),
      callsText(account),
      account.newest ?? '',
      account.worker ?? '',
    ],
    why: whyText(account),
    help: helpOf(account, job),
  }));
  return tableWithReasons(accountColumns, rows, options);
}

/** `3,120 of 5,000`. */
function callsText({ calls, total, whole }: AccountStatus): string {
  if (calls === null) return '';
  return whole === null && total !== null ? `${count(calls)} of ${count(total)}` : count(calls);
}

/** The command that helps, if one does: what ails is tried again anyway. */
const helpOf = ({ id, state }: AccountStatus, job: string): string | null =>
  state === 'aside' ? `calls fleet retry ${job} --account ${id}` : null;

interface Row {
  readonly cells: readonly string[];
  /** Why it is so; may be long, and is never cut. */
  readonly why: string;
  /** The command that helps. */
  readonly help: string | null;
}

/** A table with a column of reasons; where that is too wide, with the reasons below the rows. The commands that help are always there. */
function tableWithReasons(
  columns: readonly Column[],
  rows: readonly Row[],
  { width, style }: ScreenOptions,
): string[] {
  const all = renderTable(
    [...columns, { title: 'WHY' }],
    rows.map(({ cells, why }) => [...cells, why]),
    { width: null, style },
  ).lines;
  const isWide = width === null || all.every((line) => visible(line) <= width);
  const hasReasons = rows.some(({ why }) => why !== '');
  const lines =
    isWide && hasReasons
      ? all
      : renderTable(
          columns,
          rows.map(({ cells }) => cells),
          { width, style },
        ).lines;
  return lines.flatMap((line, at) => {
    const row = at === 0 ? undefined : rows[at - 1];
    if (row === undefined) return [line];
    const reason = isWide || row.why === '' ? [] : wrap(printable(row.why), (width ?? 80) - 2);
    const help = row.help === null ? [] : [`→ ${row.help}`];
    return [line, ...[...reason, ...help].map((text) => `  ${text}`)];
  });
}
