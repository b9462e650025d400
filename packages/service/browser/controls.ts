import {
  columnTitle,
  formatCount,
  formatCounted,
  formatDate,
  formatDays,
} from '@call-attribution/questions/chart';
import type { Group, Summary } from './api.ts';
import { button, byId, el, panelOf } from './dom.ts';
import {
  controlsOf,
  type Dimension,
  dimensions,
  presetDates,
  presets,
  type State,
  toggled,
  withDays,
  withExtensions,
  withMinutes,
  withValues,
} from './state.ts';
import { foreign, foreignText, noValue } from './text.ts';

/** The controls that write the filter, and show what it says. */
export interface FilterControls {
  show(state: State, summary: Summary | null): void;
}

/** Sets up the controls. `change` is called with what is different. */
export function createControls(current: () => State, change: (next: Partial<State>) => void): FilterControls {
  let summary: Summary | null = null;
  const narrow = (next: Partial<State>) => change({ page: 0, ...next });
  const period = periodPicker(current, () => summary, narrow);
  const minutes = minutesSlider(current, narrow);
  const pickers = dimensions.map((name) => valuePicker(name, current, () => summary, narrow));
  const extensions = byId<HTMLInputElement>('extensions');
  extensions.addEventListener('change', () => narrow({ q: withExtensions(current().q, extensions.checked) }));
  byId('pickers').replaceChildren(...pickers.map(({ place }) => place));
  return {
    show(state, found) {
      summary = found ?? summary;
      const controls = controlsOf(state.q, state.version);
      period(state);
      minutes(controls);
      extensions.checked = controls.extensions;
      extensions.disabled = state.version === 'v2';
      const left = found?.extensionsLeftOut ?? 0;
      byId('extensions-note').textContent = left > 0 ? `${formatCounted(left, 'call')} not included` : '';
      for (const picker of pickers) picker.show(state);
      drawChips(state, narrow);
    },
  };
}

function periodPicker(
  current: () => State,
  summary: () => Summary | null,
  change: (next: Partial<State>) => void,
): (state: State) => void {
  const opener = byId<HTMLButtonElement>('period');
  const panel = byId('period-panel');
  const input = (id: string) => byId<HTMLInputElement>(id);
  const choose = (preset: string | null, days: { first: string; last: string } | null) => {
    panel.hidePopover();
    change({ preset, q: withDays(current().q, days) });
  };
  panelOf(opener, panel, () => {
    const { preset, q, version } = current();
    const latest = (summary()?.latest ?? '').slice(0, 10);
    const earliest = (summary()?.earliest ?? '').slice(0, 10);
    const { days } = controlsOf(q, version);
    byId('presets').replaceChildren(
      ...presets.map(([name, label]) => {
        const dates = latest === '' ? null : presetDates(name, latest);
        const item = button(
          el('span', {}, label),
          { class: 'choice', 'aria-pressed': String(preset === name) },
          () => choose(name, dates),
        );
        if (dates) item.append(el('small', {}, formatDays(dates.first, dates.last)));
        return item;
      }),
    );
    for (const [id, value] of [
      ['from', days?.first ?? earliest],
      ['to', days?.last ?? latest],
    ] as const) {
      input(id).value = value;
      input(id).setCustomValidity('');
    }
    byId('period-note').textContent =
      latest === '' ? '' : `Presets count back from the latest call, on ${formatDate(latest, true)}.`;
  });
  byId<HTMLFormElement>('period-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const [first, last] = [input('from').value, input('to').value];
    const isOrdered = first !== '' && last !== '' && first <= last;
    input('to').setCustomValidity(isOrdered ? '' : 'The last day has to be the first day or after it.');
    if (isOrdered) choose(null, { first, last });
    else input('to').reportValidity();
  });
  input('to').addEventListener('input', () => input('to').setCustomValidity(''));
  return ({ preset, q, version }) => {
    const { days, otherTime } = controlsOf(q, version);
    const label = presets.find(([name]) => name === preset)?.[1];
    const dates = days === null ? '' : formatDays(days.first, days.last);
    byId('period-text').textContent =
      otherTime !== null ? 'Times in the filter' : (label ?? (dates || 'All time'));
    byId('period-dates').textContent = label === undefined ? '' : dates;
  };
}

/** Where the slider can stop, in minutes. Its right end does not limit. */
const stops = [0, 0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 60];

function minutesSlider(
  current: () => State,
  change: (next: Partial<State>) => void,
): (controls: { least: number | null; most: number | null }) => void {
  const [low, high] = [byId<HTMLInputElement>('least'), byId<HTMLInputElement>('most')];
  const track = byId('minutes');
  for (const slider of [low, high]) slider.max = String(stops.length);
  const minutesAt = (slider: HTMLInputElement) => stops[Number(slider.value)] ?? null;
  const say = (least: number | null, most: number | null) => {
    byId('minutes-text').textContent = minutesText(least, most);
    low.setAttribute('aria-valuetext', least === null || least === 0 ? 'no least' : `${least} minutes`);
    high.setAttribute('aria-valuetext', most === null ? 'no most' : `${most} minutes`);
    track.style.setProperty('--low', String(Number(low.value) / stops.length));
    track.style.setProperty('--high', String(Number(high.value) / stops.length));
  };
  for (const slider of [low, high]) {
    slider.addEventListener('input', () => {
      // The ends do not pass each other.
      if (Number(low.value) > Number(high.value)) (slider === low ? high : low).value = slider.value;
      say(minutesAt(low), minutesAt(high));
    });
    slider.addEventListener('change', () => {
      const [least, most] = [minutesAt(low), minutesAt(high)];
      change({ q: withMinutes(current().q, least === 0 && most === null ? null : least, most) });
    });
  }
  const nearestStop = (value: number) =>
    stops.reduce(
      (best, stop, i) => (Math.abs(stop - value) < Math.abs((stops[best] ?? 0) - value) ? i : best),
      0,
    );
  return ({ least, most }) => {
    low.value = String(least === null ? 0 : nearestStop(least));
    high.value = String(most === null ? stops.length : nearestStop(most));
    say(least, most);
  };
}

function minutesText(least: number | null, most: number | null): string {
  if (least === 0 && most === 0) return 'missed';
  const from = least === null || least === 0 ? null : least;
  if (from === null && most === null) return 'any';
  if (most === null) return `${from} min or more`;
  return from === null ? `up to ${most} min` : `${from} to ${most} min`;
}

/** Values that a picker lists at a time. */
const mostListed = 60;

function valuePicker(
  name: Dimension,
  current: () => State,
  summary: () => Summary | null,
  change: (next: Partial<State>) => void,
): { place: HTMLElement; show(state: State): void } {
  const title = columnTitle(name);
  const label = el('span', {}, title);
  const opener = el('button', { type: 'button', class: 'picker' }, label);
  const search = searchIn(title);
  const list = el('div', { class: 'options', role: 'group', 'aria-label': title });
  const note = el('p', { class: 'muted small' });
  const clear = button('Show all', { class: 'small-button' }, () => {
    panel.hidePopover();
    change({ only: withValues(current().only, name, []) });
  });
  const panel = el(
    'div',
    { class: 'panel', id: `panel-${name}`, role: 'dialog', 'aria-label': title },
    search,
    list,
    note,
    clear,
  );
  const draw = () => {
    const chosen = current().only[name] ?? [];
    const groups = summary()?.groups[name] ?? [];
    const gone = chosen
      .filter((value) => !groups.some((group) => group.value === value))
      .map((value): Group => ({ value, calls: 0, missed: 0 }));
    const text = search.value.trim().toLowerCase();
    const fitting = [...gone, ...groups].filter(({ value }) =>
      (value || noValue).toLowerCase().includes(text),
    );
    const listed = fitting.slice(0, mostListed);
    list.replaceChildren(...listed.map((group) => option(group, chosen.includes(group.value))));
    const hidden = (summary()?.values[name] ?? 0) - groups.length;
    const rest = hidden > 0 ? `The ${groups.length} with most calls; ${formatCount(hidden)} more.` : '';
    note.textContent = fitting.length === 0 ? 'No value has this in it.' : rest;
    clear.hidden = chosen.length === 0;
  };
  const option = (group: Group, isChosen: boolean) =>
    checkBox(group, isChosen, () => {
      change({ only: toggled(current().only, name, group.value) });
      clear.hidden = (current().only[name] ?? []).length === 0;
    });
  search.addEventListener('input', draw);
  panelOf(opener, panel, () => {
    search.value = '';
    draw();
  });
  return {
    place: el('div', { class: 'picker-place' }, opener, panel),
    show({ only }) {
      const chosen = only[name]?.length ?? 0;
      opener.classList.toggle('on', chosen > 0);
      label.textContent = chosen > 0 ? `${title} (${chosen})` : title;
    },
  };
}

const searchIn = (title: string) =>
  el('input', { type: 'search', 'aria-label': `Find in ${title.toLowerCase()}`, placeholder: 'Find' });

/** A value that can be chosen, with how many calls have it. */
function checkBox({ value, calls }: Group, isChosen: boolean, onChange: () => void): HTMLElement {
  const box = el('input', { type: 'checkbox' });
  box.checked = isChosen;
  box.addEventListener('change', onChange);
  return el('label', { class: 'option' }, box, shown(value), el('small', {}, formatCount(calls)));
}

/** A value of a field, or that there is none. */
export function shown(value: string | null): HTMLElement {
  return value ? foreign(value) : el('span', { class: 'muted' }, noValue);
}

/** What calls are narrowed to, each with a way out. */
function drawChips({ only }: State, change: (next: Partial<State>) => void): void {
  const chips = dimensions.flatMap((name) =>
    (only[name] ?? []).map((value) => {
      const chip = button(
        el('span', { class: 'chip-text' }, `${columnTitle(name)}: `, shown(value)),
        {
          class: 'chip',
          'aria-label': `Remove ${columnTitle(name)}: ${foreignText(value || noValue)}`,
        },
        () => change({ only: toggled(only, name, value) }),
      );
      chip.append(el('span', { 'aria-hidden': 'true' }, '×'));
      return chip;
    }),
  );
  byId('chips').replaceChildren(...chips);
}
