import type { RawPage } from '@call-attribution/core';
import type { Region } from './region.ts';
import type { SliceRead } from './judge.ts';

/** How far pages are fetched ahead of the consumer. */
export interface LookaheadLimits {
  readonly pages: number;
  readonly bytes: number;
}

/** What came of a request. */
export type Outcome =
  | { readonly page: RawPage; readonly error?: undefined }
  | { readonly error: unknown; readonly page?: undefined };

/** A page on its way or waiting for the consumer. */
export interface PageNode {
  readonly kind: 'page';
  readonly slice: SliceRead;
  readonly index: number;
  /** Asked with one row, for the total alone. */
  readonly probe: boolean;
  readonly result: Promise<Outcome>;
  outcome: Outcome | null;
}

/** The pages of a slice behind those already asked for. */
export interface RestNode {
  readonly kind: 'rest';
  readonly slice: SliceRead;
  next: number;
}

/** A stretch not yet cut into slices. */
export interface RegionNode {
  readonly kind: 'region';
  readonly region: Region;
  readonly sent: SliceRead['sent'];
}

/** A piece of the work that lies ahead. */
export type Node = PageNode | RestNode | RegionNode;

/**
 * How many pages may be held at once. It begins at half and doubles each time the consumer had to wait, so that a consumer
 * slower than the network is never read far ahead for; it shrinks when all that was asked for lies ready.
 */
export class Lookahead {
  #depth: number;
  #seen = 0;
  #bytes = 0;
  readonly #limits: LookaheadLimits;

  constructor(limits: LookaheadLimits) {
    this.#limits = limits;
    this.#depth = Math.max(Math.min(2, limits.pages), limits.pages >> 1);
  }

  /** Tells how the consumer, when it asked for more, found the first page and those behind it. */
  met(held: readonly Node[]): void {
    const pages = held.filter((node) => node.kind === 'page');
    if (pages[0]?.outcome === null) this.#depth = Math.min(this.#limits.pages, this.#depth * 2);
    else if (pages.every(({ outcome }) => outcome !== null)) this.#depth = Math.max(1, this.#depth - 1);
  }

  /** Tells the size of a page. */
  arrived(page: RawPage): void {
    this.#seen += 1;
    this.#bytes += page.bytes.byteLength;
  }

  /** Whether another page may be asked for, beside those held. */
  hasRoom(held: readonly Node[]): boolean {
    const mean = this.#seen === 0 ? 0 : this.#bytes / this.#seen;
    let bytes = mean;
    let pages = 0;
    for (const node of held) {
      if (node.kind !== 'page') continue;
      pages += 1;
      bytes += node.outcome?.page?.bytes.byteLength ?? mean;
    }
    return pages < this.#depth && bytes <= this.#limits.bytes;
  }
}
