import { FileCog } from 'lucide-react';
import type { ReactElement } from 'react';

/** The file wins at the next start. */
export function FromFile(): ReactElement {
  return (
    <div className="flex gap-2 rounded border border-line bg-wait-soft p-3">
      <FileCog size={16} aria-hidden className="mt-0.5 shrink-0 text-wait" />
      <p>
        This agent comes from the configuration file. At its next start the gateway resets it to the file: change it
        there too.
      </p>
    </div>
  );
}
