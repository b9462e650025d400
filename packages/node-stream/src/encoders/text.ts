import { defineOperator } from '../operators/chain.ts';
import type { Operator, RowForm } from '../operators/operator.ts';
import { jsonOf, recordTexts } from './row-text.ts';

/**
 * Writes one JSON object per line, in UTF-8. `createCallByteStream` gives the lines exactly as the API sent them, at a
 * fraction of the cost.
 *
 * @example
 * await pipeline(createCallStream(client), toNdjson(), process.stdout);
 */
export function toNdjson<T = unknown>(): Operator<T, Uint8Array> {
  const rows = { format: 'ndjson', fields: null, text: recordTexts() } as const;
  return textEncoder<T>({
    name: 'toNdjson',
    rows,
    lines: () => ({ item: (item) => `${jsonOf(item, item, null)}\n` }),
  });
}

/**
 * Writes one JSON array with a record per line, and `[]` when there are no records.
 *
 * @example
 * await pipeline(createCallStream(client), toJsonArray(), process.stdout);
 */
export function toJsonArray<T = unknown>(): Operator<T, Uint8Array> {
  return textEncoder<T>({
    name: 'toJsonArray',
    rows: { format: 'json', fields: null, text: recordTexts() },
    lines: () => ({ item: (item, isFirst) => `${isFirst ? '[' : ','}\n${jsonOf(item, item, null)}` }),
    end: (isEmpty) => (isEmpty ? '[]\n' : '\n]\n'),
  });
}

/** What an encoder of text writes. */
export interface TextForm<T> {
  /** Its name, for errors and checkpoints. */
  readonly name: string;
  /** What decides about the text. */
  readonly settings?: unknown;
  readonly rows: RowForm<T>;
  /** The columns that follow from the first item; null when they are known before. */
  columnsOf?(first: T): readonly string[] | null;
  /** How items with these columns are written. */
  lines(columns: readonly string[] | null): TextLines<T>;
  /** What comes after everything. */
  end?(isEmpty: boolean): string;
}

/** How items are written. */
export interface TextLines<T> {
  /** What comes before everything, even when there are no items. */
  readonly head?: string;
  /** The text of an item. */
  item(item: T, isFirst: boolean): string;
}

/** What an encoder of text keeps. */
interface TextState {
  readonly isEmpty: boolean;
  readonly columns: readonly string[] | null;
}

/** Makes an encoder of text: it keeps whether it has begun, and with which columns. */
export function textEncoder<T>(form: TextForm<T>): Operator<T, Uint8Array> {
  return defineOperator<T, Uint8Array>({
    name: form.name,
    settings: form.settings,
    rows: form.rows,
    begin(state) {
      let begun = state as TextState | null;
      let lines = begun === null ? null : form.lines(begun.columns);
      const begin = (chunks: Chunks, columns: readonly string[] | null): TextLines<T> => {
        lines = form.lines(columns);
        chunks.add(lines.head ?? '');
        begun = { isEmpty: true, columns };
        return lines;
      };
      return {
        page(items) {
          const chunks = new Chunks();
          for (const item of items) {
            lines ??= begin(chunks, form.columnsOf?.(item) ?? null);
            chunks.add(lines.item(item, begun?.isEmpty !== false));
            if (begun?.isEmpty === true) begun = { ...begun, isEmpty: false };
          }
          return chunks.all();
        },
        end() {
          const chunks = new Chunks();
          lines ??= begin(chunks, null);
          chunks.add(form.end?.(begun?.isEmpty !== false) ?? '');
          return chunks.all();
        },
        save: () => begun,
      };
    },
  });
}

/** Size of a chunk in bytes, unless a single text is longer. */
const chunkBytes = 65_536;

/**
 * Encodes each string into a chunk at once: that is twice as fast as joining many short strings first, and a string with characters
 * outside Latin-1 does not slow down the others.
 */
class Chunks {
  readonly #full: Uint8Array[] = [];
  #chunk = Buffer.alloc(0);
  #used = 0;

  add(text: string): void {
    const most = text.length * 3;
    if (this.#chunk.length - this.#used < most) {
      this.#cut();
      this.#chunk = Buffer.allocUnsafeSlow(Math.max(chunkBytes, most));
    }
    this.#used += this.#chunk.write(text, this.#used);
    if (this.#used >= chunkBytes) this.#cut();
  }

  all(): Uint8Array[] {
    this.#cut();
    return this.#full;
  }

  #cut(): void {
    if (this.#used > 0) this.#full.push(this.#chunk.subarray(0, this.#used));
    this.#chunk = this.#chunk.subarray(this.#used);
    this.#used = 0;
  }
}
