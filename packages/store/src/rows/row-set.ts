/** Rows of a piece. */
const perPiece = 65_536;

/** A set of rows by their numbers: a bit for each, in pieces that are made as they are needed. */
export class RowSet {
  readonly #pieces = new Map<number, Uint8Array>();

  add(row: number): void {
    const at = Math.floor(row / perPiece);
    let piece = this.#pieces.get(at);
    if (piece === undefined) {
      piece = new Uint8Array(perPiece / 8);
      this.#pieces.set(at, piece);
    }
    const bit = row % perPiece;
    piece[bit >> 3] = (piece[bit >> 3] ?? 0) | (1 << (bit & 7));
  }

  has(row: number): boolean {
    const bit = row % perPiece;
    const byte = this.#pieces.get(Math.floor(row / perPiece))?.[bit >> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }
}
