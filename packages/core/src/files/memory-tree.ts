import { FilesystemError } from '../errors.ts';

/** Nodes are replaced and never changed, so a reference to a node is a snapshot of the file. */
export interface FileNode {
  readonly kind: 'file';
  readonly text: string;
  /** The size in bytes of UTF-8. */
  readonly size: number;
  readonly modifiedAt: number;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  readonly children: Map<string, TreeNode>;
  /**
   * When it was created. It does not change with writes, so a failed call leaves no trace in the directories it wrote
   * to.
   */
  readonly modifiedAt: number;
}

export type TreeNode = FileNode | DirectoryNode;

export function directoryNode(modifiedAt: number): DirectoryNode {
  return { kind: 'directory', children: new Map(), modifiedAt };
}

/** The node at a normalised path. */
export function findNode(root: DirectoryNode, path: string): TreeNode | undefined {
  let node: TreeNode | undefined = root;
  for (const name of namesOf(path)) {
    node = node?.kind === 'directory' ? node.children.get(name) : undefined;
  }
  return node;
}

/** Refuses a path that leads through a file: nothing can exist there. */
export function assertNoFileAbove(root: DirectoryNode, path: string): void {
  const { above } = splitPath(path);
  const isFile = (_: string, index: number): boolean =>
    findNode(root, above.slice(0, index + 1).join('/'))?.kind === 'file';
  if (above.some(isFile)) throw leadsThroughFile(path);
}

/** Puts a node at a path, and creates the directories above it. */
export function putNode(root: DirectoryNode, path: string, node: TreeNode): void {
  const { above, name } = splitPath(path);
  let directory = root;
  for (const each of above) {
    const next = directory.children.get(each) ?? directoryNode(node.modifiedAt);
    if (next.kind === 'file') throw leadsThroughFile(path);
    directory.children.set(each, next);
    directory = next;
  }
  directory.children.set(name, node);
}

export function removeNode(root: DirectoryNode, path: string): void {
  const { above, name } = splitPath(path);
  const directory = findNode(root, above.join('/'));
  if (directory?.kind === 'directory') directory.children.delete(name);
}

/** Paths of the missing directories above a path, the deepest first. */
export function missingAbove(root: DirectoryNode, path: string): string[] {
  const { above } = splitPath(path);
  const directories = above.map((_, index) => above.slice(0, above.length - index).join('/'));
  return directories.filter((each) => findNode(root, each) === undefined);
}

/** Every file at or below a directory, with its path, in no order. */
export function* filesBelow(directory: DirectoryNode, path: string): Generator<[path: string, file: FileNode]> {
  for (const [name, node] of directory.children) {
    const at = path === '' ? name : `${path}/${name}`;
    if (node.kind === 'file') yield [at, node];
    else yield* filesBelow(node, at);
  }
}

function leadsThroughFile(path: string): FilesystemError {
  return new FilesystemError('not_directory', path, 'leads through a file as if it were a directory.');
}

function splitPath(path: string): { above: string[]; name: string } {
  const above = namesOf(path);
  return { name: above.pop() ?? '', above };
}

function namesOf(path: string): string[] {
  return path === '' ? [] : path.split('/');
}
