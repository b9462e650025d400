// The page at `/`: it asks the API of its own service, as anybody could, and nothing else.
import { type Credentials, listCalls, totalOf } from './api.ts';
import { createCallsCard, rows } from './calls-card.ts';
import { createDaysCard } from './days-card.ts';
import { byId } from './dom.ts';
import { showExamples } from './examples.ts';
import { createFilterBox } from './filter-box.ts';
import { createFollow } from './follow.ts';
import { chosenVersion, type Question, recall, remember, showRequest } from './question.ts';
import { type About, drawWho } from './who.ts';

let who: Credentials | undefined;
let current = new AbortController();
const filter = createFilterBox(chosenVersion, () => void ask(0));
const calls = createCallsCard((start) => void ask(start));
const days = createDaysCard();

function question(): Question | null {
  return who && filter.check() ? { version: chosenVersion(), who, q: filter.value } : null;
}

/** Asks for a page of calls, and with the first page for the calls per day. A newer question ends an older one. */
async function ask(start: number, withDays = start === 0): Promise<void> {
  const asked = question();
  if (!asked) return;
  current.abort();
  current = new AbortController();
  const { signal } = current;
  remember(asked);
  showRequest(asked, about.life === 'mirror');
  calls.busy(true);
  try {
    const page = await listCalls(asked.version, asked.who, asked.q, rows, start, signal);
    calls.show(asked, page, start);
    if (withDays) await days.show(asked, page.total, signal);
  } catch (error) {
    if (!signal.aborted) calls.fail(error);
  } finally {
    if (!signal.aborted) calls.busy(false);
  }
}

/** The last page, where new calls are, and the days with them. */
async function askNewest(): Promise<void> {
  const asked = question();
  if (!asked) return;
  const total = await totalOf(asked.version, asked.who, asked.q, new AbortController().signal).catch(() => 0);
  await ask(Math.max(0, Math.ceil(total / rows) - 1), true);
}

function takeExample(text: string): void {
  filter.set(text);
  void ask(0);
}

byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void ask(0);
});
for (const radio of document.querySelectorAll('input[name="version"]')) {
  radio.addEventListener('change', () => {
    showExamples(chosenVersion(), takeExample);
    void ask(0);
  });
}

const about = (await (await fetch('page/about.json')).json()) as About;
const sandbox = about.life === 'sandbox';
byId('life').textContent = sandbox
  ? `Sandbox with made-up calls${about.live ? ', new ones coming in' : ''}`
  : 'Mirror of your own calls';
byId('foot').textContent = sandbox
  ? 'Every name, number, address and domain on this page is made up or reserved for documentation.'
  : 'This page asks the API of this service and nothing else.';
filter.set(recall());
showExamples(chosenVersion(), takeExample);
if (about.live) createFollow(askNewest);
drawWho(byId('who'), about, (chosen) => {
  who = chosen;
  void ask(0);
});
