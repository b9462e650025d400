import { isFinalStatus } from '@call-attribution/core/fields';
import type { CallRecord, Version } from './api.ts';
import { el } from './dom.ts';

type Column = readonly [
  title: string,
  kind: 'text' | 'number' | 'mono' | 'long',
  value: (call: CallRecord) => Node | string,
];

const text = (value: string | number | null | undefined) =>
  value === null || value === undefined ? '' : String(value);

// The page on which a web visit ended.
const page = (call: CallRecord) => text(call.conversion_page ?? pathOf(call.last_touch));

const columns: Readonly<Record<Version, readonly Column[]>> = {
  v3: [
    ['Caller', 'mono', (call) => text(call.ani)],
    ['Dialed', 'mono', (call) => text(call.dnis)],
    ['Talk, min', 'number', (call) => text(call.talk_minutes)],
    ['Channel', 'text', (call) => text(call.channel)],
    ['Ad data', 'text', (call) => status(text(call.ppc_status))],
    ['Campaign', 'long', (call) => text(call.ppc_campaign)],
    ['Page', 'long', page],
  ],
  v2: [
    ['Caller', 'mono', (call) => text(call.ani)],
    ['Dialed', 'mono', (call) => text(call.dnis)],
    ['Talk, min', 'number', (call) => text(call.talk_minutes)],
    ['Channel', 'text', (call) => text(call.channel)],
    ['Campaign id', 'mono', (call) => text(call.ads_campaign_id)],
    ['Page', 'long', page],
  ],
};

/** Draws a page of calls; `open` is called with the id of the call whose time is pressed. */
export function drawCalls(
  place: HTMLElement,
  version: Version,
  records: readonly CallRecord[],
  open: (sid: string) => void,
): void {
  if (records.length === 0) {
    place.replaceChildren(el('p', { class: 'muted' }, 'No calls match.'));
    return;
  }
  const titles = columns[version].map(([title, kind]) => el('th', { scope: 'col', class: kind }, title));
  const rows = records.map((call) => {
    const sid = text(call.sid);
    const time = el(
      'button',
      { type: 'button', class: 'plain', 'aria-label': `Call of ${text(call.date_added)}, all fields` },
      text(call.date_added),
    );
    time.addEventListener('click', () => open(sid));
    const cells = columns[version].map(([, kind, value]) => {
      const shown = value(call);
      return el(
        'td',
        kind === 'long' && typeof shown === 'string' ? { class: kind, title: shown } : { class: kind },
        shown,
      );
    });
    return el('tr', {}, el('td', {}, time), ...cells);
  });
  const head = el('tr', {}, el('th', { scope: 'col' }, 'Time'), ...titles);
  place.replaceChildren(el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows)));
}

/** Draws all fields of a call. */
export function drawRecord(place: HTMLElement, call: CallRecord): void {
  const list = el('dl');
  for (const [name, value] of Object.entries(call)) {
    list.append(
      el('dt', {}, name),
      value === null ? el('dd', { class: 'empty' }, 'null') : el('dd', {}, String(value)),
    );
  }
  place.replaceChildren(list);
}

function status(value: string): Node | string {
  if (value === 'N/A' || value === '') return '';
  return el('span', { class: isFinalStatus(value) ? 'tag' : 'tag open' }, value);
}

function pathOf(url: string | number | null | undefined): string {
  return /^https?:\/\/[^/]+([^?#]*)/.exec(text(url))?.[1] ?? '';
}
