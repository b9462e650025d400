import { columnTitle, formatCount, formatShare } from '@call-attribution/questions/chart';
import type { PageChange, Summary } from './api.ts';
import { shown } from './controls.ts';
import { button, byId, el } from './dom.ts';
import { type Change, type Dimension, dimensions, type State, toggled } from './state.ts';
import { foreign, foreignText, noValue } from './text.ts';

/** Draws the four numbers on top, each against the period before. */
export function drawNumbers(summary: Summary, showMissed: () => void): void {
  const { total, changes, notes } = summary;
  const mean = (value: number | null) => (value === null ? '–' : `${value.toFixed(1)} min`);
  const share = total.calls === 0 ? 0 : total.missed / total.calls;
  const missed = el('span', {}, `${formatShare(share)} of calls`);
  if (total.missed > 0 && total.missed < total.calls)
    missed.append(
      el(
        'span',
        {},
        ' · ',
        button('Show', { class: 'link', 'aria-label': 'Show missed calls only' }, showMissed),
      ),
    );

  byId('numbers').replaceChildren(
    tile('Calls', formatCount(total.calls), '', changeOf(changes.calls)),
    tile('Missed', formatCount(total.missed), missed, changeOf(changes.missed, true)),
    tile(
      'Mean talk time',
      mean(total.talkMean),
      'missed calls included',
      changeOf(changes.talkMean),
    ),
    tile(
      'First-time callers',
      formatCount(total.firstTimeCallers),
      'never called before',
      changeOf(changes.firstTimeCallers),
    ),
  );
  byId('compared').textContent = notes.join(' ');
  byId('glance').replaceChildren(foreign(summary.glance));
}

function tile(
  title: string,
  value: string,
  note: HTMLElement | string,
  difference: HTMLElement | null,
): HTMLElement {
  return el(
    'div',
    { class: 'tile' },
    el('dt', {}, title),
    el('dd', {}, el('span', { class: 'value' }, value), difference),
    el('dd', { class: 'note muted small' }, note),
  );
}

/** A change since the period before, and whether it is good. */
function changeOf(change: PageChange | null, isRate = false): HTMLElement | null {
  if (change === null) return null;
  const { size, judged } = change;
  const shown = Math.abs(size).toLocaleString('en');
  if (size === 0) return el('span', { class: 'change' }, 'unchanged');
  const s = shown === '1' ? '' : 's';
  const seen = `${size > 0 ? '▲' : '▼'} ${shown}${isRate ? ` pt${s}` : '%'}`;
  const words = isRate ? ` percentage point${s}` : '%';
  const said = `${size > 0 ? 'up' : 'down'} ${shown}${words} on the period before${judged === null ? '' : `, which is ${judged}`}`;
  return el(
    'span',
    { class: judged === null ? 'change' : `change chart-${judged}` },
    el('span', { 'aria-hidden': 'true' }, seen),
    el('span', { class: 'hidden' }, said),
  );
}

const few = 6;
const expanded = new Set<Dimension>();

/** Draws where the calls come from: bars that narrow when they are pressed. */
export function drawBreakdowns(
  summary: Summary,
  state: State,
  narrow: (next: Change) => void,
  save: (name: Dimension, opener: HTMLButtonElement) => void,
): void {
  byId('breakdowns').replaceChildren(
    ...dimensions.map((name) => {
      const groups = summary.groups[name];
      const isOpen = expanded.has(name);
      const most = Math.max(1, ...groups.map(({ calls }) => calls));
      const chosen = state.only[name] ?? [];
      const rows = groups.slice(0, isOpen ? groups.length : few).map(({ value, calls, missed }) => {
        const bar = el('span', { class: value ? 'bar' : 'bar none', 'aria-hidden': 'true' });
        bar.style.setProperty('--part', String(calls / most));
        const row = button(
          el('span', { class: 'name' }, shown(value)),
          {
            class: 'group',
            'aria-pressed': String(chosen.includes(value)),
            title: foreignText(value || noValue),
          },
          () => narrow({ page: 0, only: toggled(state.only, name, value) }),
        );
        row.append(
          el(
            'span',
            { class: 'count' },
            formatCount(calls),
            el('span', { class: 'hidden' }, ' calls, '),
          ),
          el(
            'span',
            { class: 'rate muted' },
            formatShare(calls === 0 ? 0 : missed / calls),
            el('span', { class: 'hidden' }, ' missed'),
          ),
          bar,
        );
        return el('li', {}, row);
      });
      const more = groups.length - few;
      const label = isOpen ? 'Show fewer' : `Show ${more} more`;

      const open = () => {
        if (!expanded.delete(name)) expanded.add(name);
        drawBreakdowns(summary, state, narrow, save);
        byId(`breakdown-${name}`).querySelector<HTMLElement>('.link')?.focus();
      };

      const toggle =
        more <= 0 ? null : button(label, { class: 'link', 'aria-expanded': String(isOpen) }, open);
      const saver: HTMLButtonElement = button(
        'Save as CSV',
        { class: 'link', 'aria-label': `Save as CSV: ${columnTitle(name)}` },
        () => save(name, saver),
      );
      return el(
        'section',
        {
          class: 'card breakdown',
          id: `breakdown-${name}`,
          'aria-labelledby': `breakdown-${name}-title`,
        },
        el(
          'div',
          { class: 'heads' },
          el('h3', { id: `breakdown-${name}-title` }, columnTitle(name)),
          el('span', { class: 'muted small', 'aria-hidden': 'true' }, 'Calls'),
          el('span', { class: 'muted small', 'aria-hidden': 'true' }, 'Missed'),
        ),
        rows.length === 0
          ? el('p', { class: 'muted' }, 'No calls.')
          : el('ul', { class: 'groups' }, ...rows),
        el('div', { class: 'spread' }, toggle ?? '', saver),
      );
    }),
  );
}
