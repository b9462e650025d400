// The page at `/`. It sends requests to its own service only.
import { naiveAt } from '@call-attribution/core/time';
import {
  formatCount,
  formatCounted,
  formatDate,
  formatDays,
} from '@call-attribution/questions/chart';
import { type About, chooseAccount, createSignIn, offerSigningOut } from './account.ts';
import {
  ApiError,
  type Credentials,
  fromPage,
  getJson,
  type Listed,
  messageOf,
  type Report,
  type Setup,
  type Summary,
  selection,
} from './api.ts';
import { createColumnChoice, drawCalls, openRecord, rows } from './calls-table.ts';
import { drawChart, drawHours } from './chart.ts';
import { createControls } from './controls.ts';
import { byId, debounced } from './dom.ts';
import { createFilterBox } from './filter-box.ts';
import { offerFollowing } from './follow.ts';
import { download, drawShell } from './leave.ts';
import { drawBreakdowns, drawNumbers } from './numbers.ts';
import { drawMenu, drawReport } from './report.ts';
import {
  addressOf,
  type Change,
  controlsOf,
  initial,
  periodAt,
  readAddress,
  type State,
  withDays,
  withMinutes,
  withPeriod,
} from './state.ts';

let state: State = initial;
let keys: Credentials | null = null;
let summary: Summary | null = null;
let setup: Setup = { definitions: [], exclude: null, reports: [], annotations: [] };
/** Whose setup it is. */
let setupOf: Credentials | null = null;
let running = new AbortController();

/** The clock of the service, whose days words such as `yesterday` are about. */
const clock = () => ({ ...about, now: about.now + performance.now() - askedAt });
const controls = createControls(
  () => state,
  clock,
  () => setup,
  go,
);
const filter = createFilterBox((q) => go({ q, period: null, page: 0 }));
const status = byId('status');
let announcement = '';
const announce = debounced(700, () => {
  status.textContent = announcement;
});

/** Goes to another state, which becomes an entry of the history. */
function go(next: Change): void {
  state = visible({ ...state, ...next });
  const address = addressOf(state);
  if (address !== location.hash) history.pushState(null, '', address);
  if (next.account !== undefined) enterAccount();
  void load();
}

/** The state without the columns of fields that whoever looks does not see. */
function visible(read: State): State {
  return { ...read, columns: read.columns.filter((name) => !about.hidden.includes(name)) };
}

/** Loads what the state says. A newer state cancels an older one. */
async function load({ quietly = false } = {}): Promise<void> {
  if (keys === null) return;
  // The page is shown once its menu and switches are known, so that nothing moves later.
  const ready = setupOf === keys ? null : loadSetup();
  running.abort();
  running = new AbortController();
  const { signal } = running;
  showBusy(!quietly);
  try {
    drawMenu(setup, state);
    document.body.classList.toggle('reporting', state.report !== '');
    byId('report').hidden = state.report === '';
    if (state.report !== '') {
      const { report } = state;
      drawReport(
        await getJson<Report>('page/report.json', { report }, keys, signal),
        setup.annotations,
      );
      showPlace();
      showBusy(false);
      return;
    }

    if (state.period !== null)
      state = { ...state, q: withPeriod(state.q, periodAt(state.period, clock())) };
    if (!quietly) showState();
    const parameters = selection(state);
    // Each part of the page is drawn when it is there; the table mostly is first.
    let numbers: Summary | null = null;
    let listed: Listed | null = null;
    const drawTable = () => {
      if (listed !== null) showCalls(listed, numbers);
    };
    const [last] = await Promise.all([
      getJson<Summary>('page/summary.json', { ...parameters, by: state.by }, keys, signal).then(
        async (known) => {
          await ready;
          numbers = known;
          summary = known;
          showNumbers(known);
          drawTable();
          return known;
        },
      ),
      getJson<Listed>('page/calls.json', pageParameters(parameters), keys, signal).then(
        async (found) => {
          await ready;
          listed = found;
          drawTable();
        },
      ),
    ]);
    if (!quietly) say(last);
  } catch (error) {
    if (signal.aborted) return;
    // What still comes would hide what went wrong.
    running.abort();
    fail(error);
    showBusy(false);
  }

  if (!signal.aborted) showBusy(false);
}

function pageParameters(parameters: Record<string, string>): Record<string, string> {
  const columns = state.columns.includes('sid') ? state.columns : [...state.columns, 'sid'];
  return { ...parameters, fields: columns.join(), rows: String(rows), start: String(state.page) };
}

function showState(): void {
  if (document.activeElement !== byId('q')) filter.set(state.q);
  controls.show(state, null);
  byId<HTMLSelectElement>('by').value = state.by;
  drawShell(state);
}

/** Something has come: the keys were right, and the service responds. */
function showPlace(): void {
  signIn.done();
  byId('problem-banner').hidden = true;
  byId('results').hidden = false;
}

function showCalls(listed: Listed, numbers: Summary | null): void {
  showPlace();
  const total = listed.total ?? numbers?.total.calls ?? null;
  drawCalls({ ...listed, total }, state, (sid) => {
    if (keys !== null) void openRecord(sid, keys);
  });
}

function showNumbers(numbers: Summary): void {
  showPlace();
  controls.show(state, numbers);
  byId('only').hidden = numbers.only === null;
  byId('only').textContent = `This copy has ${numbers.only}.`;
  const isEmpty = numbers.total.calls === 0;
  byId('nothing').hidden = !isEmpty;
  byId('findings').hidden = isEmpty;
  byId('nothing-text').textContent =
    numbers.none ??
    `The latest call is of ${formatDate(String(numbers.latest), true)}: none is in this time with these choices. Choose a longer time, or take choices back.`;
  byId('nothing-reset').hidden = numbers.none !== null;
  drawNumbers(numbers, () => go({ q: withMinutes(state.q, 0, 0), page: 0 }));
  byId('by-text').textContent = `Calls by ${numbers.by}`;
  drawBreakdowns(
    numbers,
    state,
    go,
    (name, opener) => void download(name, opener, state, keys, fail),
  );
  drawTimes(numbers);
}

function drawTimes(numbers: Summary): void {
  drawChart(
    byId('days'),
    numbers,
    controlsOf(state.q).days,
    (days) => go({ q: withDays(state.q, days), period: null, by: 'auto', page: 0 }),
    setup.annotations,
  );
  drawHours(byId('hours'), numbers.hours);
}

function say({ total, buckets }: Summary): void {
  const { days } = controlsOf(state.q);
  const when = days === null ? '' : `, ${formatDays(days.first, days.last)}`;
  announcement = `${formatCounted(total.calls, 'call')}${when}. ${formatCount(total.missed)} missed.`;
  if (buckets.length === 0) announcement = `No calls match${when}.`;
  announce.soon();
}

function showBusy(isBusy: boolean): void {
  document.body.classList.toggle('busy', isBusy);
  byId('results').ariaBusy = String(isBusy);
}

function fail(error: unknown): void {
  const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 403);
  if (isRefused && about.hasPassword) {
    // The session has ended: the page to sign in comes in place of this one.
    location.reload();
    return;
  }

  if (isRefused && about.accounts.length === 0) {
    keys = null;
    signIn.ask(messageOf(error));
    return;
  }

  byId('problem-banner').hidden = false;
  byId('problem-text').textContent = messageOf(error);
}

function listen(): void {
  const by = byId<HTMLSelectElement>('by');
  by.addEventListener('change', () => go({ by: by.value as State['by'] }));
  byId('first').addEventListener('click', () => go({ page: 0 }));
  byId('previous').addEventListener('click', () => go({ page: state.page - 1 }));
  byId('next').addEventListener('click', () => go({ page: state.page + 1 }));
  byId('last').addEventListener('click', () => go({ page: Number(byId('last').dataset.page) }));
  for (const id of ['reset', 'nothing-reset'])
    byId(id).addEventListener('click', () => {
      const { account, columns } = state;
      go({ ...initial, account, columns });
    });

  const csv = byId<HTMLButtonElement>('csv');
  csv.addEventListener('click', () => void download('calls', csv, state, keys, fail));
  byId('retry').addEventListener('click', () => void load());
  byId('record-close').addEventListener('click', () => byId<HTMLDialogElement>('record').close());
  createColumnChoice(
    () => state,
    about.hidden,
    (columns) => go({ columns }),
  );
  addEventListener('popstate', () => {
    state = visible(readAddress(location.hash));
    if (about.accounts.length > 0) enterAccount();
    void load();
  });
  let width = innerWidth;
  const redraw = debounced(150, () => {
    if (summary !== null) drawTimes(summary);
  });
  addEventListener('resize', () => {
    if (innerWidth !== width) redraw.soon();
    width = innerWidth;
  });
}

function enterAccount(): void {
  const found = chooseAccount(about, state.account, (account) =>
    go({ account, only: {}, definitions: [], isExcluding: true, report: '', page: 0 }),
  );
  if (found !== null) keys = found;
}

/** Asks what the team has set up for the account; the numbers need not wait for it. */
async function loadSetup(): Promise<void> {
  if (keys === null) return;
  const asked = keys;
  setupOf = asked;
  const found = await getJson<Setup>('page/setup.json', {}, asked).catch(() => null);
  if (found === null || keys !== asked) return;
  setup = found;
  drawMenu(setup, state);
  controls.show(state, summary);
  showPlace();
  if (summary !== null && state.report === '') drawTimes(summary);
}

state = readAddress(location.hash);
const signIn = createSignIn((entered) => {
  keys = entered;
  void load();
});
const askedAt = performance.now();
const about = (await (await fetch('page/about.json', { headers: fromPage })).json()) as About;
state = visible(state);
const isSandbox = about.kind === 'sandbox';
let kind = 'Your own calls';
if (isSandbox) kind = `Sandbox with generated calls${about.live ? ', new ones coming in' : ''}`;
byId('kind').textContent = kind;
const secrecy = about.hasPassword
  ? 'This page sends requests to this service only.'
  : 'This page sends requests to this service only. Your keys stay in it until you close it.';
byId('foot').textContent = isSandbox
  ? 'Every name, number, address and domain on this page is generated or reserved for documentation.'
  : secrecy;
// A region that scrolls must be reachable by keyboard.
byId('calls').tabIndex = 0;
listen();
offerSigningOut(about);
if (about.live)
  offerFollowing(async () => {
    const { now, timeZone } = clock();
    const { to } = periodAt(state.period ?? 'all time', clock());
    // New calls are of today.
    if (to !== null && to <= naiveAt(now, timeZone)) go({ period: 'today', page: 0 });
    else if (state.page === 0) await load({ quietly: true });
  });
if (about.accounts.length > 0) enterAccount();
if (keys === null) signIn.ask(null);
else await load();
