import { formatNaive, naiveAt } from '@call-attribution/core/time';
import { partOver, QuestionError, readPeriod } from '@call-attribution/questions';
import {
  columnTitle,
  formatCount,
  formatCounted,
  formatDays,
  formatPeriod,
} from '@call-attribution/questions/chart';
import type { About } from './account.ts';
import type { Group, Setup, Summary } from './api.ts';
import { button, byId, el, panelOf } from './dom.ts';
import {
  type Change,
  controlsOf,
  type Dimension,
  dimensions,
  periodAt,
  periodTitle,
  type State,
  toggled,
  usualPeriods,
  withDays,
  withExtensions,
  withMinutes,
  withPeriod,
  withValues,
} from './state.ts';
import { foreign, foreignText, noValue } from './text.ts';

/** The controls that write the filter, and show what it says. */
export interface FilterControls {
  show(state: State, summary: Summary | null): void;
}

/** Sets up the controls. `change` is called with what is different. */
export function createControls(
  current: () => State,
  clock: () => About,
  setup: () => Setup,
  change: (next: Change) => void,
): FilterControls {
  let summary: Summary | null = null;
  const narrow = (next: Change) => change({ page: 0, ...next });
  const period = periodPicker(current, () => summary, clock, narrow);
  const minutes = minutesInputs(current, narrow);
  const pickers = dimensions.map((name) => valuePicker(name, current, () => summary, narrow));
  const extensions = byId<HTMLInputElement>('extensions');
  extensions.addEventListener('change', () =>
    narrow({ q: withExtensions(current().q, extensions.checked) }),
  );
  byId('pickers').replaceChildren(...pickers.map(({ place }) => place));
  return {
    show(state, found) {
      summary = found ?? summary;
      const controls = controlsOf(state.q);
      period(state);
      minutes(controls);
      extensions.checked = controls.extensions;
      byId('printed').textContent = [
        controls.days === null
          ? byId('period-text').textContent
          : formatDays(controls.days.first, controls.days.last),
        `talk time ${minutesText(controls.least, controls.most)}`,
        `call extensions ${controls.extensions ? 'included' : 'not included'}`,
        ...state.definitions,
      ].join(', ');
      const left = found?.extensionsLeftOut ?? 0;
      byId('extensions-note').textContent =
        left > 0 ? `${formatCounted(left, 'call')} not included` : '';
      for (const picker of pickers) picker.show(state);
      drawSwitches(state, summary, setup(), narrow);
      drawChips(state, narrow);
    },
  };
}

function periodPicker(
  current: () => State,
  summary: () => Summary | null,
  clock: () => About,
  change: (next: Change) => void,
): (state: State) => void {
  const opener = byId<HTMLButtonElement>('period');
  const panel = byId('period-panel');
  const input = (id: string) => byId<HTMLInputElement>(id);

  const choose = (period: string | null, q: string) => {
    panel.hidePopover();
    change({ period, q });
  };

  const chooseWords = (words: string) =>
    choose(words, withPeriod(current().q, periodAt(words, clock())));
  panelOf(opener, panel, () => {
    const { period, q } = current();
    const latest = summary()?.latest ?? '';
    const earliest = summary()?.earliest ?? '';
    const { days } = controlsOf(q);
    byId('presets').replaceChildren(
      ...usualPeriods.map((words) => {
        const item = button(
          el('span', {}, periodTitle(words)),
          { class: 'choice', 'aria-pressed': String(period === words) },
          () => chooseWords(words),
        );
        const { from, to } = periodAt(words, clock());
        if (from !== null && to !== null)
          item.append(
            el('small', {}, formatPeriod({ from: formatNaive(from), to: formatNaive(to) })),
          );

        return item;
      }),
    );

    input('words').value = period === null || usualPeriods.includes(period) ? '' : period;
    input('from').value = days?.first ?? earliest.slice(0, 10);
    input('to').value = days?.last ?? latest.slice(0, 10);
    for (const field of ['words', 'from']) say(field, '');

    const { timeZone, isZoneKnown } = clock();
    byId('period-note').textContent = isZoneKnown
      ? `Days are those of ${timeZone}.`
      : `Days are those of ${timeZone}, where this service runs: it was not told the time zone of the calls.`;
  });

  /** Says below a field what is wrong with it; an empty text takes that back. */
  const say = (field: string, problem: string) => {
    byId(`${field}-problem`).textContent = problem;
    input(field).setAttribute('aria-invalid', String(problem !== ''));
  };

  /** Does what a form is for, or says at a field why not. */
  const onSubmit = (form: string, field: string, act: () => void) => {
    byId<HTMLFormElement>(form).addEventListener('submit', (event) => {
      event.preventDefault();
      try {
        act();
      } catch (error) {
        if (!(error instanceof QuestionError)) throw error;
        say(field, error.summary);
        input(field).focus();
      }
    });
    byId(form).addEventListener('input', () => say(field, ''));
  };

  onSubmit('words-form', 'words', () => chooseWords(input('words').value.trim()));
  onSubmit('period-form', 'from', () => {
    const first = input('from').value;
    const last = input('to').value;
    // The words of a mistake are those of the terminal.
    readPeriod({ from: first, to: last }, { now: 0 });
    choose(null, withDays(current().q, { first, last }));
  });
  return ({ period, q }) => {
    const { days, otherTime } = controlsOf(q);
    const label = period === null ? null : periodTitle(period);
    const dates = days === null ? '' : formatDays(days.first, days.last);
    byId('period-text').textContent =
      label ?? (otherTime !== null ? 'Times in the filter' : dates || 'All time');
    const over =
      period === null
        ? null
        : partOver(periodAt(period, clock()), naiveAt(clock().now, clock().timeZone));
    const part = over === null ? '' : `, ${over} are over`;
    byId('period-dates').textContent = label === null ? '' : `${dates}${part}`;
  };
}

function minutesInputs(
  current: () => State,
  change: (next: Change) => void,
): (controls: { least: number | null; most: number | null }) => void {
  const low = byId<HTMLInputElement>('least');
  const high = byId<HTMLInputElement>('most');
  const minutesOf = ({ value }: HTMLInputElement) =>
    value === '' ? null : Math.max(0, Number(value));
  for (const input of [low, high])
    input.addEventListener('change', () => {
      const least = minutesOf(low);
      const most = minutesOf(high);
      const isTurned = least !== null && most !== null && least > most;
      change({
        q: isTurned ? withMinutes(current().q, most, least) : withMinutes(current().q, least, most),
      });
    });

  return ({ least, most }) => {
    low.value = String(least ?? '');
    high.value = String(most ?? '');
    byId('minutes-text').textContent = minutesText(least, most);
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
  change: (next: Change) => void,
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
    const rest =
      hidden > 0 ? `The ${groups.length} with most calls; ${formatCount(hidden)} more.` : '';
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
  el('input', {
    type: 'search',
    'aria-label': `Find in ${title.toLowerCase()}`,
    placeholder: 'Find',
  });

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

/**
 * A row of switches: definitions, each with its calls, and the one that is excluded, with a way to
 * leave that out.
 */
function drawSwitches(
  { definitions: chosen, isExcluding }: State,
  summary: Summary | null,
  { definitions, exclude }: Setup,
  change: (next: Change) => void,
): void {
  const switches = definitions
    .filter((name) => !isExcluding || name !== exclude)
    .map((name) => {
      const isOn = chosen.includes(name);
      const next = isOn ? chosen.filter((each) => each !== name) : [...chosen, name];
      const count = summary?.definitions[name];
      return button(
        el(
          'span',
          {},
          `${name.replaceAll('_', ' ')} `,
          el('small', {}, count === undefined ? '' : formatCount(count)),
        ),
        { class: 'switch', 'aria-pressed': String(isOn) },
        () => change({ definitions: next }),
      );
    });
  const left = summary?.excluded ?? 0;
  const parts: (HTMLElement | string)[] = [...switches];
  if (isExcluding && left > 0)
    parts.push(
      el(
        'span',
        { class: 'muted' },
        exclude === null ? 'Left out' : `Without ${exclude}`,
        `: ${formatCounted(left, 'call')}`,
      ),
    );
  if (exclude !== null && (!isExcluding || left > 0))
    parts.push(
      button(isExcluding ? 'Count them' : `Leave out ${exclude}`, { class: 'link' }, () =>
        change({
          isExcluding: !isExcluding,
          definitions: chosen.filter((name) => name !== exclude),
        }),
      ),
    );
  byId('switches').hidden = parts.length === 0;
  byId('switches').replaceChildren(...parts);
}

/** What calls are narrowed to, each with a way out. */
function drawChips({ only }: State, change: (next: Change) => void): void {
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
