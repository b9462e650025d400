import {
  columnTitle,
  formatCount,
  formatDays,
  formatShare,
  judgeChange,
} from '@call-attribution/questions/chart';
import { measures } from '@call-attribution/questions/measures';
import type { Measures, Summary } from './api.ts';
import { shown } from './controls.ts';
import { button, byId, el } from './dom.ts';
import { type Change, type Dimension, dimensions, type State, toggled } from './state.ts';
import { foreignText, noValue } from './text.ts';

/** Draws the four numbers on top, each against the period before. */
export function drawNumbers(
  { total, part, before, changePerDay, comparedWith, notes }: Summary,
  showMissed: () => void,
): void {
  const mean = (value: number | null) => (value === null ? '–' : `${value.toFixed(1)} min`);
  const share = ({ missed, calls }: Measures) => (calls === 0 ? 0 : missed / calls);
  const missed = el('span', {}, `${formatShare(share(total))} of calls`);
  if (total.missed > 0 && total.missed < total.calls)
    missed.append(
      el(
        'span',
        {},
        ' · ',
        button('Show', { class: 'link', 'aria-label': 'Show missed calls only' }, showMissed),
      ),
    );

  // Of a period that is not over, the same part of both is compared.
  const now = part ?? total;
  byId('numbers').replaceChildren(
    tile(
      'Calls',
      formatCount(total.calls),
      null,
      change('calls', now.calls, before?.calls ?? null, changePerDay.calls),
    ),
    tile(
      'Missed',
      formatCount(total.missed),
      missed,
      change('missed_rate', share(now), before && share(before)),
    ),
    tile(
      'Mean talk time',
      mean(total.talkMean),
      el('span', {}, 'missed calls included'),
      change('talk_mean', now.talkMean ?? 0, before?.talkMean ?? null),
    ),
    tile(
      'First-time callers',
      formatCount(total.firstTimeCallers),
      el('span', {}, 'never called before'),
      change(
        'first_time_callers',
        now.firstTimeCallers,
        before?.firstTimeCallers ?? null,
        changePerDay.firstTimeCallers,
      ),
    ),
  );
  const compared =
    comparedWith === null
      ? 'Choose a time to compare with the one before it.'
      : `Compared with ${formatDays(comparedWith.first, comparedWith.last)}.`;
  byId('compared').textContent = [compared, ...notes].join(' ');
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
    el('dd', {}, el('span', { class: 'value' }, value), difference),
    el('dd', { class: 'note muted small' }, note ?? ''),
  );
}

/**
 * The change of a measure since the period before, and whether it is good, as reports judge it: of a
 * rate in percentage points, otherwise in percent.
 */
function change(
  measure: string,
  now: number,
  was: number | null,
  perDay: number | null = null,
): HTMLElement | null {
  const isRate = measure === 'missed_rate';
  if (was === null || (!isRate && was === 0)) return null;
  const value = (isRate ? now - was : (now - was) / was) * 100;
  const rounded = Math.abs(value) < 10 ? Number(value.toFixed(1)) : Math.round(value);
  const size = Math.abs(rounded).toLocaleString('en');
  if (rounded === 0) return el('span', { class: 'change' }, 'unchanged');
  const [unit, words] = isRate ? [' pts', ' percentage points'] : ['%', '%'];
  const column = measures.find(({ name }) => name === measure);
  const judged = judgeChange(column, rounded, perDay ?? rounded);

  const seen = `${rounded > 0 ? '▲' : '▼'} ${size}${unit}`;
  const said = `${rounded > 0 ? 'up' : 'down'} ${size}${words} on the period before${judged === null ? '' : `, which is ${judged}`}`;
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
