import { ApiError, getCall, type Page } from './api.ts';
import { drawCalls, drawRecord } from './calls-table.ts';
import { byId, el, grouped } from './dom.ts';
import type { Question } from './question.ts';

/** Calls on one page. */
export const rows = 25;

/** The card with the table of calls, its pager and the dialog with all fields of one. */
export interface CallsCard {
  busy(now: boolean): void;
  show(question: Question, page: Page, start: number): void;
  fail(error: unknown): void;
}

/** Wires the card; `turn` is called with the number of the page that is wanted. */
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
    show(question, page, start) {
      current = start;
      last = Math.max(0, Math.ceil(page.total / rows) - 1);
      drawCalls(table, question.version, page.records, (sid) => void openRecord(question, sid));
      range.textContent =
        page.last > 0
          ? `${grouped(page.first)} to ${grouped(page.last)} of ${grouped(page.total)}`
          : `${grouped(page.total)} in all`;
      for (const id of ['first', 'previous']) button(id).disabled = start === 0;
      for (const id of ['next', 'last']) button(id).disabled = start >= last;
    },
    fail(error) {
      range.textContent = '';
      for (const id of ['first', 'previous', 'next', 'last']) button(id).disabled = true;
      fail(table, error);
    },
  };
}

async function openRecord({ version, who }: Question, sid: string): Promise<void> {
  const body = byId('record-body');
  byId('record-title').textContent = `Call ${sid}`;
  body.replaceChildren();
  byId<HTMLDialogElement>('record').showModal();
  try {
    drawRecord(body, await getCall(version, who, sid));
  } catch (error) {
    fail(body, error);
  }
}

function fail(place: HTMLElement, error: unknown): void {
  const words =
    error instanceof ApiError ? error.message : 'The service cannot be reached. Is it still running?';
  place.replaceChildren(el('p', { class: 'problem', role: 'alert' }, words));
}
