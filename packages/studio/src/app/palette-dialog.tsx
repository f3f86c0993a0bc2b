import type { Agent } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import {
  type KeyboardEvent,
  lazy,
  type ReactElement,
  Suspense,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { isComposing } from '../parts/keyboard/is-composing.ts';
import { Dialog } from '../parts/ui/dialog.tsx';
import { findItems, type PaletteItem } from './find-items.ts';
import { usePaletteItems } from './use-palette-items.tsx';

/** A search field, and a list that the arrow keys move through while the field keeps the focus. */
export function PaletteDialog({ onClose }: { onClose: () => void }): ReactElement {
  const [asked, setAsked] = useState<Agent | undefined>();
  if (asked === undefined) return <Search onClose={onClose} onPause={setAsked} />;
  return (
    <Suspense>
      <PauseOrResume agent={asked} onClose={onClose} />
    </Suspense>
  );
}

interface AskedProps {
  readonly agent: Agent;
  readonly onClose: () => void;
}

/** Only this part of the palette is loaded later: it does nothing without the gateway. */
const PauseOrResume = lazy(() =>
  import('../pages/agent/agent-actions.tsx').then(
    ({ PauseDialog, ResumeDialog }) => ({
      default: (props: AskedProps) =>
        props.agent.status === 'paused' ? <ResumeDialog {...props} /> : <PauseDialog {...props} />,
    }),
    () => ({ default: NotLoaded }),
  ),
);

function NotLoaded({ agent, onClose }: AskedProps): ReactElement {
  return (
    <Dialog title={agent.name} onClose={onClose}>
      <p role="alert">The gateway does not respond, and nothing was changed. Load the page again once it responds.</p>
    </Dialog>
  );
}

function Search({ onClose, onPause }: { onClose: () => void; onPause: (agent: Agent) => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const items = usePaletteItems(query, onPause);
  const found = useMemo(() => findItems(items, query), [items, query]);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const choose = (item: PaletteItem | undefined): void => {
    if (item === undefined) return;
    // The command to pause asks for confirmation in this place.
    if (!item.id.startsWith('pause-')) onClose();
    item.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event.nativeEvent)) return;
    const next = keyTarget(event.key, at, found.length);
    if (next !== undefined) {
      event.preventDefault();
      setAt(next);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(found[at]);
    }
  };
  return (
    <dialog
      ref={dialog}
      aria-label="Search and commands"
      // The browser fires `close` a moment after Escape. If the user reopened the palette in between, it would close
      // again.
      onCancel={onClose}
      onClose={onClose}
      className="mt-[10vh] w-full max-w-xl overflow-hidden rounded-card border border-line bg-surface p-0 shadow-lg"
    >
      <input
        autoFocus
        role="combobox"
        aria-label="Search pages, spaces, agents, tools, runs and commands"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length === 0 ? undefined : `${listId}-${at}`}
        autoComplete="off"
        spellCheck={false}
        placeholder="Where to? Or the id of a run"
        value={query}
        onChange={({ target }) => {
          setQuery(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="min-h-12 w-full border-b border-line bg-surface px-4 text-lg outline-none placeholder:text-quiet"
      />
      <Found id={listId} items={found} at={at} onChoose={choose} />
      <p role="status" className="px-4 py-3 text-quiet empty:hidden">
        {found.length === 0 && 'Nothing found.'}
      </p>
    </dialog>
  );
}

function keyTarget(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case 'ArrowDown':
      return (at + 1) % count;
    case 'ArrowUp':
      return (at - 1 + count) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}

interface FoundProps {
  readonly id: string;
  readonly items: readonly PaletteItem[];
  readonly at: number;
  readonly onChoose: (item: PaletteItem) => void;
}

function Found({ id, items, at, onChoose }: FoundProps): ReactElement {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector(`[data-at="${at}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <div ref={list} role="listbox" id={id} aria-label="What was found" className="max-h-[50vh] overflow-y-auto p-1">
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys, as in the combobox pattern.
        <div
          key={item.id}
          id={`${id}-${index}`}
          data-at={index}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          onClick={() => onChoose(item)}
          className="flex min-h-9 cursor-pointer items-center gap-3 rounded px-3 hover:bg-raised aria-selected:bg-selected pointer-coarse:min-h-11"
        >
          <span className="max-w-[70%] shrink-0 truncate">
            <bdi>{withVisibleControls(item.text)}</bdi>
          </span>
          <span className="min-w-0 flex-1 truncate text-xs text-quiet">{withVisibleControls(item.detail ?? '')}</span>
          <span className="text-xs text-quiet">{item.kind}</span>
        </div>
      ))}
    </div>
  );
}
