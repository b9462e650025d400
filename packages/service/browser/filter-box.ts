import { applyFix, complete, diagnose, type Problem } from '@call-attribution/query-dsl';
import { byId, debounced, el } from './dom.ts';
import type { Version } from './state.ts';

/** The input for the filter. A mistake is shown once typing pauses, never in the middle of a word. */
export interface FilterBox {
  readonly value: string;
  set(text: string): void;
  /** Checks the filter again, for instance after the version has changed; true when it is valid. */
  check(): boolean;
}

/** A pause in typing after which a mistake is shown and announced. */
const pauseMs = 900;

/** Sets up the filter input: problems with a caret, warnings, fixes, and completions that the keyboard can reach. */
export function createFilterBox(version: () => Version, submit: () => void): FilterBox {
  const input = byId<HTMLInputElement>('q');
  const list = byId('completions');
  const place = byId('problem');
  let offered: { text: string; kind: string; start: number; end: number }[] = [];
  let chosen = -1;
  /** The filter that is checked and explained; null while one types. */
  let explained: string | null = null;

  const explaining = debounced(pauseMs, () => {
    // A word that can still be completed is not a mistake yet.
    if (document.activeElement !== input || offered.length === 0) check();
  });

  function check(): boolean {
    explaining.cancel();
    explained = input.value;
    const { problems, warnings } = diagnose(input.value, { version: version() });
    const problem = problems[0] ?? warnings[0];
    const isWrong = problems.length > 0;
    input.setAttribute('aria-invalid', String(isWrong));
    place.classList.toggle('hint', !isWrong);
    place.replaceChildren(...(problem ? explain(problem, problems.length) : []));
    return !isWrong;
  }

  function explain(problem: Problem, count: number): Node[] {
    const more = count > 1 ? ` (${count - 1} more after it)` : '';
    const parts: Node[] = [
      el('span', {}, problem.message + more),
      el('pre', { 'aria-hidden': 'true' }, problem.frame),
    ];
    const fixed = applyFix(input.value, problem);
    if (fixed !== undefined) {
      const button = el('button', { type: 'button' }, 'Fix it: ', el('code', {}, fixed));
      button.addEventListener('click', () => {
        set(fixed);
        input.focus();
      });
      parts.push(button);
    }
    return parts;
  }

  function set(text: string): void {
    input.value = text;
    close();
    check();
  }

  function close(): void {
    offered = [];
    chosen = -1;
    list.hidden = true;
    list.replaceChildren();
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }

  function open(): void {
    const caret = input.selectionStart ?? input.value.length;
    const { items, start, end } = complete(input.value, caret, { version: version() });
    close();
    if (items.length === 0) return;
    offered = items.map(({ text, kind }) => ({ text, kind, start, end }));
    list.replaceChildren(
      ...items.map((item, i) => {
        const option = el(
          'div',
          { id: `completion-${i}`, role: 'option', 'aria-selected': 'false' },
          el('code', {}, item.text),
          el('small', {}, item.detail),
        );
        // Pressing an option must not take the focus out of the input.
        option.addEventListener('pointerdown', (event) => event.preventDefault());
        option.addEventListener('click', () => take(i));
        return option;
      }),
    );
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
  }

  function choose(index: number): void {
    list.children[chosen]?.setAttribute('aria-selected', 'false');
    chosen = (index + offered.length) % offered.length;
    const option = list.children[chosen];
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', `completion-${chosen}`);
  }

  function take(index: number): void {
    const item = offered[index];
    if (!item) return;
    set(input.value.slice(0, item.start) + item.text + input.value.slice(item.end));
    const caret = item.start + item.text.length;
    // The letters of the date format are left selected, to be typed over.
    const letters = item.kind === 'date' ? item.text.search(/[A-Z]/) : -1;
    input.setSelectionRange(letters < 0 ? caret : item.start + letters, caret);
    if (letters < 0) open();
  }

  input.addEventListener('input', () => {
    input.setAttribute('aria-invalid', 'false');
    place.replaceChildren();
    explained = null;
    open();
    explaining.soon();
  });
  input.addEventListener('blur', () => {
    close();
    // Drawing what is shown already would take the button of a fix away while it is pressed.
    if (explained !== input.value) check();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (offered.length === 0) open();
      if (offered.length > 0) choose(event.key === 'ArrowDown' ? chosen + 1 : chosen < 0 ? -1 : chosen - 1);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (chosen >= 0) take(chosen);
      else {
        close();
        if (check()) submit();
      }
    } else if (event.key === 'Escape' && offered.length > 0) {
      event.preventDefault();
      close();
      explaining.soon();
    }
  });

  return {
    get value() {
      return input.value;
    },
    set,
    check,
  };
}
