import type { Fact, Fix } from './problem.ts';

/** What had been noted at some point. */
export interface Mark {
  readonly facts: number;
  readonly edits: number;
  readonly unfixable: number;
}

/** A string, how far it has been read, and what was found wrong with it so far. */
export class Cursor {
  pos = 0;
  readonly text: string;
  readonly facts: Fact[] = [];
  /** The edits that correct the text, unless something is unfixable. */
  readonly edits: Fix[] = [];
  /** How many facts have no sure correction. */
  unfixable = 0;

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.pos >= this.text.length;
  }

  /** What a sticky pattern matches here; undefined when it does not match. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.pos;
    return pattern.exec(this.text) ?? undefined;
  }

  /** What a sticky pattern matches here, or the empty string. */
  peek(pattern: RegExp): string {
    return this.match(pattern)?.[0] ?? '';
  }

  /** Like `peek`, and moves past it. */
  take(pattern: RegExp): string {
    const found = this.peek(pattern);
    this.pos += found.length;
    return found;
  }

  /** Notes what is wrong, with the edits that correct it. Without edits, the text has no sure correction. */
  note(fact: Fact, ...edits: readonly Fix[]): void {
    this.facts.push(fact);
    this.edits.push(...edits);
    if (edits.length === 0) this.unfixable++;
  }

  /** Notes a mistake that is corrected by putting a string in its place. */
  replace(fact: Fact, text: string): void {
    this.note(fact, { start: fact.start, end: fact.end, text });
  }

  mark(): Mark {
    return { facts: this.facts.length, edits: this.edits.length, unfixable: this.unfixable };
  }

  /**
   * Puts one edit in the place of those noted since the mark, because it does all that they would. Without one, the text
   * has no sure correction.
   */
  rewrite(mark: Mark, edit: Fix | undefined): void {
    this.edits.length = mark.edits;
    this.unfixable = mark.unfixable;
    if (edit === undefined) this.unfixable++;
    else this.edits.push(edit);
  }

  /** Forgets the facts and edits noted since the mark, because another fact says it all. The position stays. */
  forget(mark: Mark): void {
    this.facts.length = mark.facts;
    this.edits.length = mark.edits;
    this.unfixable = mark.unfixable;
  }
}
