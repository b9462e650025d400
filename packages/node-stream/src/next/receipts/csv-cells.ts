/** A cell as it is written: null when it is empty and not quoted. */
export type CsvCell = string | null;

/** Cuts the text of a CSV file into lines of cells as it comes, as RFC 4180 has them; a line ends with LF or CR LF. */
export class CsvReader {
  readonly #delimiter: string;
  readonly #onRow: (cells: CsvCell[]) => void;
  #cells: CsvCell[] = [];
  #cell = '';
  #isQuoted = false;
  #isInQuotes = false;
  /** A quote within quotes was the last character: it ends them, or stands for one with the next. */
  #hasQuote = false;
  /** A CR was the last character: an LF makes it the end of the line. */
  #hasReturn = false;
  #isEmpty = true;

  constructor(delimiter: string, onRow: (cells: CsvCell[]) => void) {
    this.#delimiter = delimiter;
    this.#onRow = onRow;
  }

  push(text: string): void {
    for (const character of text) this.#take(character);
  }

  /** Ends the text. Returns false when it ends within quotes. */
  end(): boolean {
    if (this.#isInQuotes && !this.#hasQuote) return false;
    if (this.#hasReturn) this.#plain('\r');
    if (!this.#isEmpty || this.#cells.length > 0) this.#endRow();
    return true;
  }

  #take(character: string): void {
    if (this.#hasReturn) {
      this.#hasReturn = false;
      if (character === '\n') {
        this.#endRow();
        return;
      }
      this.#plain('\r');
    }
    if (this.#isInQuotes && !this.#hasQuote) {
      if (character === '"') this.#hasQuote = true;
      else this.#cell += character;
      return;
    }
    if (this.#hasQuote) {
      this.#hasQuote = false;
      if (character === '"') {
        this.#cell += '"';
        return;
      }
      this.#isInQuotes = false;
    }
    if (character === '\n') this.#endRow();
    else if (character === '\r') this.#hasReturn = true;
    else this.#plain(character);
  }

  #plain(character: string): void {
    this.#isEmpty = false;
    if (character === '"' && this.#cell === '' && !this.#isQuoted) {
      this.#isQuoted = true;
      this.#isInQuotes = true;
    } else if (character === this.#delimiter) this.#endCell();
    else this.#cell += character;
  }

  #endCell(): void {
    this.#cells.push(this.#cell === '' && !this.#isQuoted ? null : this.#cell);
    this.#cell = '';
    this.#isQuoted = false;
  }

  #endRow(): void {
    this.#endCell();
    this.#onRow(this.#cells);
    this.#cells = [];
    this.#isEmpty = true;
  }
}
