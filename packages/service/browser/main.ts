import { diagnose } from '@call-attribution/query-dsl';
import {
  ApiError,
  authHeaders,
  type Credentials,
  getCall,
  listAddress,
  listCalls,
  totalOf,
  type Version,
} from './api.ts';
import { drawCalls, drawRecord } from './calls-table.ts';
import { type DayCount, drawChart } from './chart.ts';
import { daysOf, mostDays, withDay } from './days.ts';
import { byId, el, grouped } from './dom.ts';
import { createFilterBox } from './filter-box.ts';
import { type About, drawWho } from './who.ts';

const rows = 25;
let who: Credentials | undefined;
let page = 0;
let lastPage = 0;
let asked = '';
let drawn: readonly DayCount[] = [];
let current = new AbortController();

const version = (): Version =>
  document.querySelector<HTMLInputElement>('input[name="version"]:checked')?.value === 'v2' ? 'v2' : 'v3';
const filter = createFilterBox(version, () => void ask(0));

/** Asks for a page of calls and, when the filter or the account is another one, for the calls per day. */
async function ask(start: number): Promise<void> {
  if (!who || !filter.check()) return;
  current.abort();
  current = new AbortController();
  const { signal } = current;
  page = start;
  const q = filter.value;
  remember(q);
  showRequest(q);
  const table = byId('calls');
  table.setAttribute('aria-busy', 'true');
  try {
    const answer = await listCalls(version(), who, q, rows, start, signal);
    drawCalls(table, version(), answer.records, (sid) => void showRecord(sid));
    byId('calls-range').textContent =
      answer.last > 0
        ? `${grouped(answer.first)} to ${grouped(answer.last)} of ${grouped(answer.total)}`
        : `${grouped(answer.total)} in all`;
    lastPage = Math.max(0, Math.ceil(answer.total / rows) - 1);
    for (const id of ['first', 'previous']) byId<HTMLButtonElement>(id).disabled = start === 0;
    for (const id of ['next', 'last']) byId<HTMLButtonElement>(id).disabled = start >= lastPage;
    if (start === 0) await showDays(q, answer.total, signal);
  } catch (error) {
    if (signal.aborted) return;
    fail(table, error);
  } finally {
    if (!signal.aborted) table.removeAttribute('aria-busy');
  }
}

/** Counts each day with the API's own totals: one request a day, which the service answers without reading a call. */
async function showDays(q: string, total: number, signal: AbortSignal): Promise<void> {
  const asking = who;
  const key = JSON.stringify([version(), asking, q, total]);
  if (!asking || key === asked) return;
  const last =
    total === 0 ? undefined : (await listCalls(version(), asking, q, 1, total - 1, signal)).records[0];
  const first = total === 0 ? undefined : (await listCalls(version(), asking, q, 1, 0, signal)).records[0];
  const dayOf = (call: typeof first) => String(call?.date_added).slice(0, 10);
  const days =
    first && last ? daysOf(diagnose(q, { version: version() }).filter, dayOf(first), dayOf(last)) : [];
  const counts: DayCount[] = [];
  const queue = [...days.entries()];
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [i, day] = next;
      counts[i] = { day, calls: await totalOf(version(), asking, withDay(q, day), signal) };
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  asked = key;
  drawn = counts;
  drawChart(byId('days'), counts);
  byId('days-sum').textContent =
    counts.length === mostDays ? `the last ${mostDays} days` : `${counts.length} days`;
}

async function showRecord(sid: string): Promise<void> {
  if (!who) return;
  const dialog = byId<HTMLDialogElement>('record');
  byId('record-title').textContent = `Call ${sid}`;
  const body = byId('record-body');
  body.replaceChildren();
  dialog.showModal();
  try {
    drawRecord(body, await getCall(version(), who, sid));
  } catch (error) {
    fail(body, error);
  }
}

function fail(place: HTMLElement, error: unknown): void {
  const words =
    error instanceof ApiError ? error.message : 'The service cannot be reached. Is it still running?';
  place.replaceChildren(el('p', { class: 'problem', role: 'alert' }, words));
}

function showRequest(q: string): void {
  if (!who) return;
  const address = new URL(listAddress(version(), q, 2, 0), document.baseURI).href;
  const secret = about?.life === 'mirror' ? '<your key>' : undefined;
  const headers = Object.entries(authHeaders(version(), who)).map(
    ([name, value]) => `-H '${name}: ${secret ?? value}'`,
  );
  byId('shell').textContent = `curl -i ${headers.join(' ')} \\\n  '${address.replaceAll("'", '%27')}'`;
}

// The question stands in the address, so that it can be kept and handed on; keys never do.
function remember(q: string): void {
  const state = new URLSearchParams({ ...(q.trim() === '' ? {} : { q: q.trim() }), v: version() });
  history.replaceState(null, '', `#${state}`);
}

function recall(): void {
  const state = new URLSearchParams(location.hash.slice(1));
  const wanted = document.querySelector<HTMLInputElement>(
    `input[name="version"][value="${state.get('v') === 'v2' ? 'v2' : 'v3'}"]`,
  );
  if (wanted) wanted.checked = true;
  filter.set(state.get('q') ?? '');
}

function showExamples(): void {
  const examples: readonly (readonly [label: string, text: string])[] = [
    ['All calls', ''],
    ['Ten minutes and more', 'talk_minutes:[10 TO *]'],
    ['Not answered', 'talk_minutes:[0 TO 0]'],
    ['One week of October', 'date_added:[2026-10-12 00:00:00 TO 2026-10-19 00:00:00}'],
    ...(version() === 'v3' ? ([['With call extensions', 'inc_gce:1']] as const) : []),
    ['A slip of the pen', 'talk_minuts:[2 TO *'],
  ];
  byId('examples').replaceChildren(
    ...examples.map(([label, text]) => {
      const chip = el('button', { type: 'button', class: 'chip' }, label);
      chip.addEventListener('click', () => {
        filter.set(text);
        void ask(0);
      });
      return chip;
    }),
  );
}

// A region that scrolls must be reachable by keyboard.
byId('calls').tabIndex = 0;
byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void ask(0);
});
byId('first').addEventListener('click', () => void ask(0));
byId('last').addEventListener('click', () => void ask(lastPage));
byId('previous').addEventListener('click', () => void ask(page - 1));
byId('next').addEventListener('click', () => void ask(page + 1));
byId('record-close').addEventListener('click', () => byId<HTMLDialogElement>('record').close());
for (const radio of document.querySelectorAll('input[name="version"]')) {
  radio.addEventListener('change', () => {
    showExamples();
    void ask(0);
  });
}
let wide = 0;
new ResizeObserver(([entry]) => {
  const width = Math.round(entry?.contentRect.width ?? 0);
  if (width === wide || drawn.length === 0) return;
  wide = width;
  drawChart(byId('days'), drawn);
}).observe(byId('days'));

const about = (await (await fetch('page/about.json')).json()) as About;
byId('life').textContent =
  about.life === 'sandbox'
    ? `Sandbox with made-up calls${about.live ? ', new ones coming in' : ''}`
    : 'Mirror of your own calls';
byId('foot').textContent =
  about.life === 'sandbox'
    ? 'Every name, number, address and domain on this page is made up or reserved for documentation.'
    : 'This page asks the API of this service and nothing else.';
recall();
showExamples();
drawWho(byId('who'), about, (chosen) => {
  who = chosen;
  void ask(0);
});
