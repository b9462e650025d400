import { ApiError, getCall, type Page } from './api.ts';
import { drawCalls, drawRecord } from './calls-table.ts';
import { byId, el, grouped } from './dom.ts';
import type { Search } from './search.ts';

/** Calls on one page. */
export const rows = 25;

const followEvery = 2000;

/** The card with the table of calls, its pager and the dialog with all fields of one. */
export interface CallsCard {
  busy(now: boolean): void;
  show(search: Search, page: Page, start: number): void;
  fail(error: unknown): void;
  /** Shows the button that calls `newest` again and again. */
  offerFollowing(newest: () => Promise<void>): void;
}

/** Sets up the card; `turn` is called with the number of the page to show. */
export function createCallsCard(turn: (start: number) => void): CallsCard {
  const table = byId('calls');
  const range = byId('calls-range');
  const button = (id: string) => byId<HTMLButtonElement>(id);
  let current = 0;
  let last = 0;

  // A region that scrolls must be reachable by keyboard.
  table.tabIndex = 0;
  button('first').addEventListener('click', () => turn(0));
  button('previous').addEventListener('click', () => turn(current - 1));
  button('next').addEventListener('click', () => turn(current + 1));
  button('last').addEventListener('click', () => turn(last));
  button('record-close').addEventListener('click', () => byId<HTMLDialogElement>('record').close());

  return {
    busy(now) {
      table.ariaBusy = String(now);
    },
    show(search, page, start) {
      current = start;
      last = Math.max(0, Math.ceil(page.total / rows) - 1);
      drawCalls(table, search.version, page.records, (sid) => void openRecord(search, sid));
      range.textContent =
        page.last > 0
          ? `${grouped(page.first)} to ${grouped(page.last)} of ${grouped(page.total)}`
          : `${grouped(page.total)} in total`;
      for (const id of ['first', 'previous']) button(id).disabled = start === 0;
      for (const id of ['next', 'last']) button(id).disabled = start >= last;
    },
    fail(error) {
      range.textContent = '';
      for (const id of ['first', 'previous', 'next', 'last']) button(id).disabled = true;
      fail(table, error);
    },
    offerFollowing,
  };
}

async function openRecord({ version, keys }: Search, sid: string): Promise<void> {
  const body = byId('record-body');
  byId('record-title').textContent = `Call ${sid}`;
  body.replaceChildren();
  byId<HTMLDialogElement>('record').showModal();
  try {
    drawRecord(body, await getCall(version, keys, sid));
  } catch (error) {
    fail(body, error);
  }
}

function fail(place: HTMLElement, error: unknown): void {
  const message =
    error instanceof ApiError ? error.message : 'The service cannot be reached. Is it still running?';
  place.replaceChildren(el('p', { class: 'problem', role: 'alert' }, message));
}

/** Shows the button that follows the calls of a live sandbox: `newest` is called every two seconds while it is pressed. */
function offerFollowing(newest: () => Promise<void>): void {
  const button = byId<HTMLButtonElement>('follow');
  let timer: ReturnType<typeof setTimeout> | undefined;
  button.hidden = false;

  async function refresh(): Promise<void> {
    // The table or a call must not change while someone reads it.
    const reading = byId('calls').contains(document.activeElement) || byId<HTMLDialogElement>('record').open;
    if (!reading && !document.hidden) await newest();
    if (timer !== undefined) timer = setTimeout(refresh, followEvery);
  }

  button.addEventListener('click', () => {
    const on = timer === undefined;
    button.setAttribute('aria-pressed', String(on));
    // A screen reader would announce each new call.
    byId('calls-range').setAttribute('aria-live', on ? 'off' : 'polite');
    clearTimeout(timer);
    timer = on ? setTimeout(refresh, 0) : undefined;
  });
}
