import { applyFix, type Problem, safeParse } from '@call-attribution/query-dsl';
import { type Completion, completionsAt } from './completions.ts';
import { byId, debounced, el } from './dom.ts';
import type { Version } from './state.ts';

/** A pause in typing after which a mistake is shown and announced. */
const pauseMs = 900;

/**
 * The input for the filter: its first problem with a caret and a fix, and completions that the keyboard can reach. A mistake is
 * shown once typing pauses, never in the middle of a word.
 */
export class FilterBox {
  readonly #version: () => Version;
  readonly #submit: () => void;
  readonly #input = byId<HTMLInputElement>('q');
  readonly #list = byId('completions');
  readonly #place = byId('problem');
  #offered: readonly Completion[] = [];
  #chosen = -1;
  /** The filter that is checked and explained; null while one types. */
  #explained: string | null = null;
  readonly #explaining = debounced(pauseMs, () => {
    // A word that can still be completed is not a mistake yet.
    if (document.activeElement !== this.#input || this.#offered.length === 0) this.check();
  });

  constructor(version: () => Version, submit: () => void) {
    this.#version = version;
    this.#submit = submit;
    this.#input.addEventListener('input', () => this.#typed());
    this.#input.addEventListener('blur', () => {
      this.#close();
      // Drawing what is shown already would take the button of a fix away while it is pressed.
      if (this.#explained !== this.#input.value) this.check();
    });
    this.#input.addEventListener('keydown', (event) => this.#pressed(event));
  }

  get value(): string {
    return this.#input.value;
  }

  set(text: string): void {
    this.#input.value = text;
    this.#close();
    this.check();
  }

  /** Checks the filter again, for instance after the version has changed; true when it is valid. */
  check(): boolean {
    const input = this.#input;
    this.#explaining.cancel();
    this.#explained = input.value;
    const result = safeParse(input.value, { version: this.#version() });
    input.setAttribute('aria-invalid', String(!result.ok));
    this.#place.replaceChildren(...(result.ok ? [] : this.#explain(result.problem)));
    return result.ok;
  }

  #explain(problem: Problem): Node[] {
    const parts: Node[] = [
      el('span', {}, problem.message),
      el('pre', { 'aria-hidden': 'true' }, problem.frame),
    ];
    const fixed = applyFix(this.#input.value, problem);
    if (fixed !== undefined) {
      const button = el('button', { type: 'button' }, 'Fix it: ', el('code', {}, fixed));
      button.addEventListener('click', () => {
        this.set(fixed);
        this.#input.focus();
      });
      parts.push(button);
    }
    return parts;
  }

  #typed(): void {
    this.#input.setAttribute('aria-invalid', 'false');
    this.#place.replaceChildren();
    this.#explained = null;
    this.#open();
    this.#explaining.soon();
  }

  #pressed(event: KeyboardEvent): void {
    const chosen = this.#chosen;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (this.#offered.length === 0) this.#open();
      if (this.#offered.length === 0) return;
      this.#choose(event.key === 'ArrowDown' ? chosen + 1 : Math.max(-1, chosen - 1));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (chosen >= 0) this.#take(chosen);
      else {
        this.#close();
        if (this.check()) this.#submit();
      }
    } else if (event.key === 'Escape' && this.#offered.length > 0) {
      event.preventDefault();
      this.#close();
      this.#explaining.soon();
    }
  }

  #open(): void {
    const caret = this.#input.selectionStart ?? this.#input.value.length;
    const items = completionsAt(this.#input.value, caret, this.#version());
    this.#close();
    if (items.length === 0) return;
    this.#offered = items;
    this.#list.replaceChildren(
      ...items.map((item, i) => {
        const option = el(
          'div',
          { id: `completion-${i}`, role: 'option', 'aria-selected': 'false' },
          el('code', {}, item.text),
          el('small', {}, item.detail),
        );
        // Pressing an option must not take the focus out of the input.
        option.addEventListener('pointerdown', (event) => event.preventDefault());
        option.addEventListener('click', () => this.#take(i));
        return option;
      }),
    );
    this.#list.hidden = false;
    this.#input.setAttribute('aria-expanded', 'true');
  }

  #close(): void {
    this.#offered = [];
    this.#chosen = -1;
    this.#list.hidden = true;
    this.#list.replaceChildren();
    this.#input.setAttribute('aria-expanded', 'false');
    this.#input.removeAttribute('aria-activedescendant');
  }

  #choose(index: number): void {
    this.#list.children[this.#chosen]?.setAttribute('aria-selected', 'false');
    this.#chosen = (index + this.#offered.length) % this.#offered.length;
    const option = this.#list.children[this.#chosen];
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    this.#input.setAttribute('aria-activedescendant', `completion-${this.#chosen}`);
  }

  #take(index: number): void {
    const item = this.#offered[index];
    if (!item) return;
    const input = this.#input;
    this.set(input.value.slice(0, item.start) + item.text + input.value.slice(item.end));
    const caret = item.start + item.text.length;
    // The letters of the date format are left selected, to be typed over.
    const letters = item.text.search(/[YMDHS]/);
    input.setSelectionRange(letters < 0 ? caret : item.start + letters, caret);
    if (letters < 0) this.#open();
  }
}
