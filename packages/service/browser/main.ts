// The page at `/`. It sends requests to the API of its own service only, as any client could.
import { type About, drawAccount } from './account-card.ts';
import { type Credentials, listCalls, totalOf } from './api.ts';
import { createCallsCard, rows } from './calls-card.ts';
import { createDaysCard } from './days-card.ts';
import { byId } from './dom.ts';
import { createFilterBox } from './filter-box.ts';
import { chosenVersion, recall, remember, type Search, showExamples, showRequest } from './search.ts';

let keys: Credentials | undefined;
let current = new AbortController();
const filter = createFilterBox(chosenVersion, () => void load(0));
const calls = createCallsCard((start) => void load(start));
const days = createDaysCard();

function readSearch(): Search | null {
  return keys && filter.check() ? { version: chosenVersion(), keys, q: filter.value } : null;
}

/** Loads a page of calls, and with the first page the calls per day. A newer search cancels an older one. */
async function load(start: number, withDays = start === 0): Promise<void> {
  const search = readSearch();
  if (!search) return;
  current.abort();
  current = new AbortController();
  const { signal } = current;
  remember(search);
  showRequest(search, about.kind === 'mirror');
  calls.busy(true);
  try {
    const page = await listCalls(search.version, search.keys, search.q, rows, start, signal);
    calls.show(search, page, start);
    if (withDays) await days.show(search, page.total, signal);
  } catch (error) {
    if (!signal.aborted) calls.fail(error);
  } finally {
    if (!signal.aborted) calls.busy(false);
  }
}

/** Loads the last page, where new calls are, and the calls per day. */
async function loadNewest(): Promise<void> {
  const search = readSearch();
  if (!search) return;
  const total = await totalOf(search.version, search.keys, search.q, new AbortController().signal).catch(
    () => 0,
  );
  await load(Math.max(0, Math.ceil(total / rows) - 1), true);
}

function chooseExample(text: string): void {
  filter.set(text);
  void load(0);
}

byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void load(0);
});
for (const radio of document.querySelectorAll('input[name="version"]')) {
  radio.addEventListener('change', () => {
    showExamples(chosenVersion(), chooseExample);
    void load(0);
  });
}

const about = (await (await fetch('page/about.json')).json()) as About;
const isSandbox = about.kind === 'sandbox';
byId('kind').textContent = isSandbox
  ? `Sandbox with made-up calls${about.live ? ', new ones coming in' : ''}`
  : 'Mirror of your own calls';
byId('foot').textContent = isSandbox
  ? 'Every name, number, address and domain on this page is made up or reserved for documentation.'
  : 'This page sends requests to this service only.';
filter.set(recall());
showExamples(chosenVersion(), chooseExample);
if (about.live) calls.offerFollowing(loadNewest);
drawAccount(byId('account'), about, (chosen) => {
  keys = chosen;
  void load(0);
});
