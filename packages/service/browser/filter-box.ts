import { applyFix, type Problem, safeParse } from '@call-attribution/query-dsl';
import { button, byId, debounced, el } from './dom.ts';

/** A pause in typing after which a mistake is shown and announced. */
const pauseMs = 900;

/**
 * Sets up the input for the filter, which shows its first problem with a caret and a fix: once
 * typing pauses, never in the middle of a word. `submit` is called with a filter that is right.
 */
export function createFilterBox(submit: (q: string) => void): { set(text: string): void } {
  const input = byId<HTMLInputElement>('q');

  /** The filter that is checked and explained; null while one types. */
  let explained: string | null = null;
  const explaining = debounced(pauseMs, check);

  function check(): boolean {
    explaining.cancel();
    explained = input.value;
    const result = safeParse(input.value);
    input.setAttribute('aria-invalid', String(!result.ok));
    byId('problem').replaceChildren(...(result.ok ? [] : explain(result.problem)));
    return result.ok;
  }

  function explain(problem: Problem): Node[] {
    const fixed = applyFix(input.value, problem);
    const fix = button('Fix it: ', {}, () => {
      set(fixed ?? '');
      input.focus();
    });
    fix.append(el('code', {}, fixed ?? ''));
    const frame = el('pre', { 'aria-hidden': 'true' }, problem.frame);
    return [el('span', {}, problem.message), frame, ...(fixed === undefined ? [] : [fix])];
  }

  function set(text: string): void {
    input.value = text;
    check();
  }

  input.addEventListener('input', () => {
    input.setAttribute('aria-invalid', 'false');
    byId('problem').replaceChildren();
    explained = null;
    explaining.soon();
  });
  input.addEventListener('blur', () => {
    // Drawing what is shown already would take the button of a fix away while it is pressed.
    if (explained !== input.value) check();
  });
  byId('form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (check()) submit(input.value);
  });
  return { set };
}
