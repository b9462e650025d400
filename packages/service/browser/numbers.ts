import type { Measures, Summary } from './api.ts';
import { shown } from './controls.ts';
import { button, byId, el } from './dom.ts';
import { type Dimension, dimensions, type State, toggled } from './state.ts';
import { foreignText, grouped, noValue, percent, rangeText, titleOf } from './text.ts';

/** Draws the four numbers on top, each against the period before. */
export function drawNumbers({ total, before, comparedWith }: Summary, showMissed: () => void): void {
  const mean = (value: number | null) => (value === null ? '–' : `${value.toFixed(1)} min`);
  const share = ({ missed, calls }: Measures) => (calls === 0 ? 0 : missed / calls);
  const missed = el('span', {}, `${percent(total.missed, total.calls)} of calls`);
  if (total.missed > 0 && total.missed < total.calls)
    missed.append(
      ' · ',
      button('Show', { class: 'link', 'aria-label': 'Show missed calls only' }, showMissed),
    );
  byId('numbers').replaceChildren(
    tile('Calls', grouped(total.calls), null, change(total.calls, before?.calls ?? null, 'relative')),
    tile('Missed', grouped(total.missed), missed, before && change(share(total), share(before), 'points')),
    tile(
      'Mean talk time',
      mean(total.talkMean),
      el('span', {}, 'missed calls included'),
      change(total.talkMean ?? 0, before?.talkMean ?? null, 'relative'),
    ),
    tile(
      'First-time callers',
      grouped(total.firstTimeCallers),
      el('span', {}, 'never called before'),
      change(total.firstTimeCallers, before?.firstTimeCallers ?? null, 'relative'),
    ),
  );
  byId('compared').textContent =
    comparedWith === null
      ? 'Choose a time to compare with the one before it.'
      : `Compared with ${rangeText(comparedWith.first, comparedWith.last)}.`;
}

function tile(
  title: string,
  value: string,
  note: HTMLElement | null,
  difference: HTMLElement | null,
): HTMLElement {
  return el(
    'div',
    { class: 'tile' },
    el('dt', {}, title),
    el(
      'dd',
      {},
      el('span', { class: 'value' }, value),
      difference,
      el('span', { class: 'note muted' }, note ?? ''),
    ),
  );
}

/** The change since the period before: as a part of what it was, or in percentage points. */
function change(now: number, was: number | null, kind: 'relative' | 'points'): HTMLElement | null {
  if (was === null || (kind === 'relative' && was === 0)) return null;
  const value = kind === 'points' ? (now - was) * 100 : ((now - was) / was) * 100;
  const rounded = Math.abs(value) < 10 ? Number(value.toFixed(1)) : Math.round(value);
  const size = grouped(Math.trunc(Math.abs(rounded))) + (String(Math.abs(rounded)).match(/\.\d/)?.[0] ?? '');
  const [unit, words] = kind === 'points' ? [' pts', ' percentage points'] : ['%', '%'];
  if (rounded === 0) return el('span', { class: 'change' }, 'unchanged');
  const isUp = rounded > 0;
  return el(
    'span',
    { class: `change ${isUp ? 'up' : 'down'}` },
    el('span', { 'aria-hidden': 'true' }, `${isUp ? '▲' : '▼'} ${size}${unit}`),
    el('span', { class: 'hidden' }, `${isUp ? 'up' : 'down'} ${size}${words} on the period before`),
  );
}

const few = 6;
const expanded = new Set<Dimension>();

/** Draws where the calls come from: bars that narrow when they are pressed. */
export function drawBreakdowns(summary: Summary, state: State, narrow: (next: Partial<State>) => void): void {
  byId('breakdowns').replaceChildren(
    ...dimensions.map((name) => {
      const groups = summary.groups[name];
      const isOpen = expanded.has(name);
      const most = Math.max(1, ...groups.map(({ calls }) => calls));
      const chosen = state.only[name] ?? [];
      const rows = groups.slice(0, isOpen ? groups.length : few).map(({ value, calls, missed }) => {
        const bar = el('span', { class: 'bar', 'aria-hidden': 'true' });
        bar.style.setProperty('--part', String(calls / most));
        const row = button(
          el('span', { class: 'name' }, shown(value)),
          {
            class: 'group',
            'aria-pressed': String(chosen.includes(value)),
            title: foreignText(value ?? noValue),
          },
          () => narrow({ page: 0, only: toggled(state.only, name, value) }),
        );
        row.append(
          el('span', { class: 'count' }, grouped(calls), el('span', { class: 'hidden' }, ' calls, ')),
          el(
            'span',
            { class: 'rate muted' },
            percent(missed, calls),
            el('span', { class: 'hidden' }, ' missed'),
          ),
          bar,
        );
        return el('li', {}, row);
      });
      const more = groups.length - few;
      const toggle =
        more <= 0
          ? null
          : button(
              isOpen ? 'Show fewer' : `Show ${more} more`,
              { class: 'link', 'aria-expanded': String(isOpen) },
              () => {
                if (!expanded.delete(name)) expanded.add(name);
                drawBreakdowns(summary, state, narrow);
                byId(`breakdown-${name}`).querySelector<HTMLElement>('.link')?.focus();
              },
            );
      return el(
        'section',
        { class: 'card breakdown', id: `breakdown-${name}`, 'aria-labelledby': `breakdown-${name}-title` },
        el(
          'div',
          { class: 'heads' },
          el('h3', { id: `breakdown-${name}-title` }, titleOf(name)),
          el('span', { class: 'muted small', 'aria-hidden': 'true' }, 'Calls'),
          el('span', { class: 'muted small', 'aria-hidden': 'true' }, 'Missed'),
        ),
        rows.length === 0 ? el('p', { class: 'muted' }, 'No calls.') : el('ul', { class: 'groups' }, ...rows),
        toggle,
      );
    }),
  );
}
