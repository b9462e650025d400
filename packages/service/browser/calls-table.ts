import { fields, isFinalStatus } from '@call-attribution/core/fields';
import { columnTitle, formatCount } from '@call-attribution/questions/chart';
import { type CallRecord, type Credentials, getJson, type Listed, messageOf } from './api.ts';
import { byId, el, panelOf } from './dom.ts';
import { type State, usualColumns } from './state.ts';
import { fieldGroups, foreign, foreignText } from './text.ts';

/** Calls on one page of the table. */
export const rows = 25;

const numeric = new Set(
  fields.flatMap(({ name, type, isId }) => (/integer|decimal/.test(type) && !isId ? [name] : [])),
);
const mono = new Set(
  fields.flatMap(({ name, isId, mask }) =>
    isId || mask?.kind === 'phone' || mask?.kind === 'ip' ? [name] : [],
  ),
);

/**
 * Draws a page of calls, newest first. `open` is called with the id of the call that is pressed.
 */
export function drawCalls(
  { total, calls }: Listed,
  state: State,
  open: (sid: string) => void,
): void {
  const { page, columns } = state;
  const first = page * rows + 1;
  const count = formatCount(total ?? 0);
  let range = '';
  if (calls.length > 0) {
    const of = total === null ? '' : ` of ${count}`;
    range = `${formatCount(first)} to ${formatCount(first + calls.length - 1)}${of}, newest first`;
  } else if (total) range = `No calls on this page; there are ${count}`;

  byId('calls-range').textContent = range;
  const last = total === null ? page : Math.max(0, Math.ceil(total / rows) - 1);

  const disable = (id: string, off: boolean) => {
    byId<HTMLButtonElement>(id).disabled = off;
  };

  for (const id of ['first', 'previous']) disable(id, page === 0);
  for (const id of ['next', 'last']) disable(id, page >= last);
  byId('last').dataset.page = String(last);
  byId('pager').hidden = (total ?? 0) <= rows && page === 0;
  const place = byId('calls');
  if (calls.length === 0) {
    place.replaceChildren(el('p', { class: 'muted' }, 'No calls match.'));
    return;
  }

  const heads = columns.map((name) =>
    el('th', { scope: 'col', class: classOf(name) }, columnTitle(name)),
  );
  const body = calls.map((call) =>
    el('tr', {}, ...columns.map((name, i) => cellOf(call, name, i === 0, open))),
  );

  place.replaceChildren(
    el(
      'table',
      { class: 'calls', 'aria-labelledby': 'calls-title' },
      el('thead', {}, el('tr', {}, ...heads)),
      el('tbody', {}, ...body),
    ),
  );
  keepRoles();
}

const narrow = matchMedia('(max-width: 640px)');
narrow.addEventListener('change', keepRoles);
const roles = {
  table: 'table',
  thead: 'rowgroup',
  tbody: 'rowgroup',
  tr: 'row',
  th: 'columnheader',
  td: 'cell',
};

/** On a narrow screen rows are cards: there only roles keep them a table for screen readers. */
function keepRoles(): void {
  for (const [name, role] of Object.entries(roles))
    for (const part of byId('calls').querySelectorAll(name))
      if (narrow.matches) part.setAttribute('role', role);
      else part.removeAttribute('role');
}

function classOf(name: string): string {
  if (numeric.has(name)) return 'number';
  return mono.has(name) ? 'mono' : 'long';
}

function cellOf(
  call: CallRecord,
  name: string,
  isFirst: boolean,
  open: (sid: string) => void,
): HTMLElement {
  const value = call[name];
  const text = value === null || value === undefined ? '' : String(value);
  const cell = el('td', { class: classOf(name), 'data-title': columnTitle(name) });

  // `N/A` is how the API says that there is nothing.
  if (text === '' || text === 'N/A') cell.classList.add('empty');
  else cell.title = foreignText(text);
  if (isFirst) {
    const opener = el(
      'button',
      {
        type: 'button',
        class: 'link',
        'aria-label': `${columnTitle(name)} ${foreignText(text)}, all fields of this call`,
      },
      text === '' ? 'Open' : foreign(text),
    );
    opener.addEventListener('click', () => open(String(call.sid)));
    cell.append(opener);
  } else if (name === 'ppc_status' && text !== '' && text !== 'N/A') {
    cell.append(el('span', { class: isFinalStatus(text) ? 'tag' : 'tag open' }, foreign(text)));
  } else if (text !== 'N/A') cell.append(foreign(text));

  return cell;
}

/** Sets up the choice of columns, among those that are not hidden. */
export function createColumnChoice(
  current: () => State,
  hidden: readonly string[],
  choose: (columns: readonly string[]) => void,
): void {
  const list = byId('columns-list');
  const groups = [...fieldGroups]
    .map(([group, names]) => [group, names.filter((name) => !hidden.includes(name))] as const)
    .filter(([, names]) => names.length > 0);

  const draw = () => {
    const chosen = current().columns;
    list.replaceChildren(
      ...groups.map(([group, names]) =>
        el(
          'fieldset',
          {},
          el('legend', {}, group.charAt(0).toUpperCase() + group.slice(1)),
          ...names.map((name) => {
            const box = el('input', { type: 'checkbox' });
            box.checked = chosen.includes(name);
            box.addEventListener('change', () => {
              const now = current().columns;
              const next = box.checked ? [...now, name] : now.filter((each) => each !== name);
              if (next.length > 0) choose(next);
              else box.checked = true;
            });
            return el('label', { class: 'option' }, box, el('span', {}, columnTitle(name)));
          }),
        ),
      ),
    );
  };

  panelOf(byId<HTMLButtonElement>('columns'), byId('columns-panel'), draw);
  byId('columns-usual').addEventListener('click', () => {
    choose(usualColumns);
    draw();
  });
}

/** Opens the dialog with all fields of a call. */
export async function openRecord(sid: string, keys: Credentials): Promise<void> {
  const body = byId('record-body');
  byId('record-title').replaceChildren('Call ', foreign(sid));
  body.replaceChildren(el('p', { class: 'muted' }, 'Loading.'));
  byId<HTMLDialogElement>('record').showModal();
  try {
    drawRecord(body, await getJson<CallRecord>('page/calls.json', { sid }, keys));
  } catch (error) {
    body.replaceChildren(el('p', { class: 'problem', role: 'alert' }, messageOf(error)));
  }
}

const specs = new Map<string, (typeof fields)[number]>(fields.map((spec) => [spec.name, spec]));

function drawRecord(place: HTMLElement, call: CallRecord): void {
  const byGroup = new Map<string, HTMLElement[]>();
  for (const [name, value] of Object.entries(call)) {
    const spec = specs.get(name);
    const group = spec?.group ?? 'more';
    const isEmpty = value === null || value === '';
    const shown = isEmpty
      ? el('dd', { class: 'empty' }, 'no value')
      : el('dd', {}, foreign(String(value)));
    const row = el(
      'div',
      isEmpty ? { class: 'row empty-row' } : { class: 'row' },
      el('dt', { title: spec?.meaning ?? '' }, name),
      shown,
    );
    byGroup.set(group, [...(byGroup.get(group) ?? []), row]);
  }

  place.replaceChildren(
    ...[...byGroup].map(([group, list]) =>
      el(
        'section',
        {},
        el('h3', {}, group.charAt(0).toUpperCase() + group.slice(1)),
        el('dl', {}, ...list),
      ),
    ),
  );
}
