import { readFileSync } from 'node:fs';

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: string[];
      readonly node_types: [string[], ...unknown[]];
      readonly edge_fields: string[];
      readonly edge_types: [string[], ...unknown[]];
    };
  };
  readonly nodes: number[];
  readonly edges: number[];
  readonly strings: string[];
}

/** One object of a heap snapshot. */
export interface HeapNode {
  readonly index: number;
  readonly type: string;
  readonly name: string;
}

/** A heap snapshot that can be searched. */
export interface Heap {
  readonly nodes: readonly HeapNode[];
  /** What an object refers to, with the name of each reference. Weak references are left out. */
  edges(node: HeapNode): { readonly name: string; readonly to: HeapNode }[];
}

/** Reads a file of `v8.writeHeapSnapshot`. */
export function readHeap(path: string): Heap {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(path, 'utf8')) as Snapshot;
  const {
    node_fields: fields,
    node_types: types,
    edge_fields: edgeFields,
    edge_types: edgeTypes,
  } = snapshot.meta;
  const at = (name: string) => fields.indexOf(name);
  const width = fields.length;
  const edgeWidth = edgeFields.length;
  const list: HeapNode[] = [];
  const firstEdge: number[] = [0];
  for (let i = 0; i < nodes.length; i += width) {
    list.push({
      index: list.length,
      type: types[0][nodes[i + at('type')] as number] as string,
      name: strings[nodes[i + at('name')] as number] as string,
    });
    firstEdge.push((firstEdge.at(-1) as number) + (nodes[i + at('edge_count')] as number));
  }
  return {
    nodes: list,
    edges({ index }) {
      const found = [];
      for (let i = firstEdge[index] as number; i < (firstEdge[index + 1] as number); i += 1) {
        const [type = 0, name = 0, to = 0] = edges.slice(i * edgeWidth, i * edgeWidth + 3);
        const kind = edgeTypes[0][type];
        if (kind === 'weak') continue;
        const shown = kind === 'element' || kind === 'hidden' ? String(name) : (strings[name] as string);
        found.push({ name: shown, to: list[to / width] as HeapNode });
      }
      return found;
    },
  };
}

/** The strings that an object holds itself, in its properties or in what these hold: not the program it belongs to. */
export function stringsOf(heap: Heap, start: HeapNode): string[] {
  const seen = new Set<number>();
  const queue = [start];
  const found: string[] = [];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (seen.has(node.index)) continue;
    seen.add(node.index);
    if (node.type === 'string' || node.type === 'concatenated string' || node.type === 'sliced string')
      found.push(node.name);
    for (const { name, to } of heap.edges(node)) {
      const isProgram = ['closure', 'code', 'native', 'synthetic', 'object shape', 'hidden'].includes(
        to.type,
      );
      if (!isProgram && name !== '__proto__' && name !== 'map' && name !== 'constructor') queue.push(to);
    }
  }
  return found;
}
