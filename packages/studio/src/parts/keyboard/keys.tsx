import { type ReactElement, useEffect, useRef, useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { isComposing } from './is-composing.ts';
import { areSingleKeysOn } from './single-keys.ts';

interface KeyAction {
  /** Shown in the list of shortcuts. */
  readonly label: string;
  readonly run: () => void;
  /** Whether it also works while the user types in a field. Default: no. */
  readonly evenInFields?: boolean;
}

/** `j`, `?`, `g i` (one after the other) or `mod+k` (Ctrl, on a Mac Cmd). */
export type KeyMap = Readonly<Record<string, KeyAction>>;

/** All active maps, newest last: the newest handles a key first. */
const maps: { current: KeyMap }[] = [];

/** Handles keys while the component is mounted. */
export function useKeys(map: KeyMap): void {
  const entry = useRef(map);
  entry.current = map;
  useEffect(() => {
    maps.push(entry);
    return () => {
      maps.splice(maps.indexOf(entry), 1);
    };
  }, []);
}

/** Labels of keys that elements of the page handle by themselves while they have the focus. */
const focusedKeys: { current: Readonly<Record<string, string>> }[] = [];

/** Shows keys in the list of shortcuts that an element handles by itself while it has the focus. */
export function useListedKeys(labels: Readonly<Record<string, string>>): void {
  const entry = useRef(labels);
  entry.current = labels;
  useEffect(() => {
    focusedKeys.push(entry);
    return () => {
      focusedKeys.splice(focusedKeys.indexOf(entry), 1);
    };
  }, []);
}

interface ListedKey {
  readonly key: string;
  readonly label: string;
}

/** The keys that the list of shortcuts shows now. Several cards have the same keys, which are listed once. */
function keysInUse(): readonly ListedKey[] {
  const global = maps.flatMap(({ current }) => Object.entries(current).map(([key, { label }]) => ({ key, label })));
  const local = focusedKeys.flatMap(({ current }) => Object.entries(current).map(([key, label]) => ({ key, label })));
  return [...new Map([...global, ...local].map((one) => [`${one.key} ${one.label}`, one])).values()];
}

/** `?` lists the keys that do something on this page. */
export function ShortcutHelp(): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  useKeys({ '?': { label: 'Show the keys', run: () => setOpen(true) } });
  if (!isOpen) return null;
  return (
    <Dialog title="Keys on this page" onClose={() => setOpen(false)}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2">
        {keysInUse().map(({ key, label }) => (
          <div key={`${key} ${label}`} className="contents">
            <dt>
              <kbd className="rounded border border-line px-1.5 font-mono text-xs">{key.replace('mod+', 'Ctrl ')}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

let prefix = '';
let prefixAt = 0;

/** Call it once for the whole page. */
export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || isComposing(event)) return;
    const key = nameOf(event);
    const before = event.timeStamp - prefixAt < 1_500 ? prefix : '';
    const action = find(before === '' ? key : `${before} ${key}`) ?? (before === '' ? undefined : find(key));
    prefix = key;
    prefixAt = event.timeStamp;
    if (action === undefined || !mayRun(action, event)) return;
    prefix = '';
    event.preventDefault();
    action.run();
  });
}

function nameOf({ key, ctrlKey, metaKey }: KeyboardEvent): string {
  return ctrlKey || metaKey ? `mod+${key.toLowerCase()}` : key;
}

function find(name: string): KeyAction | undefined {
  return maps.findLast(({ current }) => Object.hasOwn(current, name))?.current[name];
}

/** Single letters do nothing in fields, in an open dialog, or if the user has turned them off. */
function mayRun({ evenInFields = false }: KeyAction, { target, ctrlKey, metaKey, key }: KeyboardEvent): boolean {
  if (evenInFields) return true;
  const element = target instanceof Element ? target : undefined;
  if (element?.closest('input, textarea, select, [contenteditable], dialog') != null) return false;
  return ctrlKey || metaKey || key.length > 1 || areSingleKeysOn();
}
