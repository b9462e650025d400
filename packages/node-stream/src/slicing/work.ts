import { type CutLimits, cut } from './region.ts';
import type { SliceRead } from './judge.ts';
import type { Lookahead, Node, PageNode, RegionNode } from './lookahead.ts';

/** What the list needs from the walk that owns it. */
export interface ListOwner {
  readonly lookahead: Lookahead;
  limits(): CutLimits;
  fetch(slice: SliceRead, index: number, probe: boolean): PageNode;
  slice(node: RegionNode, made: ReturnType<typeof cut>): SliceRead;
}

/** The work that lies ahead, in the order in which it is delivered. */
export class WorkList {
  readonly #owner: ListOwner;
  #nodes: Node[] = [];

  constructor(owner: ListOwner) {
    this.#owner = owner;
  }

  get isEmpty(): boolean {
    return this.#nodes.length === 0;
  }

  /** The first piece; a page once the list was filled. */
  get head(): Node | undefined {
    return this.#nodes[0];
  }

  /** Tells the lookahead that the consumer asks for the first piece. */
  meet(): void {
    this.#owner.lookahead.met(this.#nodes);
  }

  append(node: Node): void {
    this.#nodes.push(node);
  }

  /** Puts others, or nothing, in the place of a page that is no more needed. */
  replace(node: PageNode, ...nodes: Node[]): void {
    const at = this.#nodes.indexOf(node);
    if (at >= 0) this.#nodes.splice(at, 1, ...nodes);
  }

  prepend(node: Node): void {
    this.#nodes.unshift(node);
  }

  /** Takes out what is left of a slice. */
  drop(slice: SliceRead): void {
    this.#nodes = this.#nodes.filter((node) => node.kind === 'region' || node.slice !== slice);
  }

  clear(): void {
    this.#nodes = [];
  }

  /** Asks for pages in order while there is room. The first piece may always go; open ends wait until they are first. */
  fill(): void {
    for (;;) {
      const at = this.#nodes.findIndex((node) => node.kind !== 'page');
      const node = this.#nodes[at];
      if (node === undefined || node.kind === 'page') return;
      if (at > 0 && !(this.#mayRunAhead(node) && this.#owner.lookahead.hasRoom(this.#nodes))) return;
      this.#start(node, at);
    }
  }

  #mayRunAhead(node: Exclude<Node, PageNode>): boolean {
    if (node.kind === 'region') return node.region.lower < this.#owner.limits().sealedBefore;
    return node.slice.sealed && (node.next === 0 || node.slice.pass.total !== null);
  }

  #start(node: Exclude<Node, PageNode>, at: number): void {
    if (node.kind === 'region') {
      const made = cut(node.region, this.#owner.limits());
      const page = this.#owner.fetch(this.#owner.slice(node, made), 0, made.probe);
      this.#nodes.splice(at, made.isLast ? 1 : 0, page);
      return;
    }
    const { slice, next } = node;
    const { total, rows } = slice.pass;
    if (next > 0 && total !== null && next * rows >= total) {
      this.#nodes.splice(at, 1);
      return;
    }
    this.#nodes.splice(at, next === 0 ? 1 : 0, this.#owner.fetch(slice, next, false));
    node.next += 1;
  }
}
