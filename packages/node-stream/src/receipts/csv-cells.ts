/** A cell as it is written: null when it is empty and not quoted. */
export type CsvCell = string | null;

/** Takes the text of a CSV file as it comes and reports its lines as cells. */
export interface CsvReader {
  push(text: string): void;
  /** Ends the text. Returns false when it ends within quotes. */
  end(): boolean;
}

/** Cuts CSV into cells, as RFC 4180 has them; a line ends with LF or CR LF. */
export function csvReader(delimiter: string, onRow: (cells: CsvCell[]) => void): CsvReader {
  let cells: CsvCell[] = [];
  let cell = '';
  let isQuoted = false;
  let isInQuotes = false;
  /** A quote within quotes was the last character: it ends them, or stands for one with the next. */
  let hasQuote = false;
  /** A CR was the last character: an LF makes it the end of the line. */
  let hasReturn = false;
  let isEmpty = true;

  const endCell = (): void => {
    cells.push(cell === '' && !isQuoted ? null : cell);
    cell = '';
    isQuoted = false;
  };
  const endRow = (): void => {
    endCell();
    onRow(cells);
    cells = [];
    isEmpty = true;
  };
  const plain = (character: string): void => {
    isEmpty = false;
    if (character === '"' && cell === '' && !isQuoted) {
      isQuoted = true;
      isInQuotes = true;
    } else if (character === delimiter) endCell();
    else cell += character;
  };
  const take = (character: string): void => {
    if (hasReturn) {
      hasReturn = false;
      if (character === '\n') {
        endRow();
        return;
      }
      plain('\r');
    }
    if (isInQuotes && !hasQuote) {
      if (character === '"') hasQuote = true;
      else cell += character;
      return;
    }
    if (hasQuote) {
      hasQuote = false;
      if (character === '"') {
        cell += '"';
        return;
      }
      isInQuotes = false;
    }
    if (character === '\n') endRow();
    else if (character === '\r') hasReturn = true;
    else plain(character);
  };
  return {
    push(text) {
      for (const character of text) take(character);
    },
    end() {
      if (isInQuotes && !hasQuote) return false;
      if (hasReturn) plain('\r');
      if (!isEmpty || cells.length > 0) endRow();
      return true;
    },
  };
}
