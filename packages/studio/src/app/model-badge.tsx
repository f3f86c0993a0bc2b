import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { type ReactElement, useId } from 'react';
import { gatewayStatus } from '../data/status.ts';

/**
 * Shows which model answers. For the rehearsal model it says how to set a real one, so that newcomers do not mistake it
 * for a model.
 */
export function ModelBadge(): ReactElement | null {
  const { data } = useQuery(gatewayStatus);
  if (data === undefined) return null;
  const { name, isRehearsal, why } = data.model;
  if (!isRehearsal)
    return (
      <Link to="/settings" search={{ tab: 'gateway' }} title={why} className="hover:text-text">
        model {withVisibleControls(name)}
      </Link>
    );
  return <Rehearsal howToSet={data.model.howToSet} />;
}

function Rehearsal({ howToSet }: { howToSet: string | undefined }): ReactElement {
  const id = useId();
  return (
    <>
      <button
        type="button"
        popoverTarget={id}
        className="inline-flex min-h-6 items-center gap-1 underline decoration-dotted underline-offset-2"
      >
        <FlaskConical size={16} aria-hidden /> rehearsal
        <span className="sr-only">: no real model is set</span>
      </button>
      <div
        id={id}
        popover="auto"
        className="inset-auto top-10 left-2 m-0 wide:left-50 max-w-80 rounded-card border border-line bg-surface p-4 text-base text-text shadow-lg"
      >
        <p className="font-medium">No real model is set up.</p>
        <p className="mt-1 text-quiet">
          The rehearsal model answers by simple rules, so that you can try everything without a key. Everything else is
          real: tools, cards, runs.
        </p>
        {howToSet !== undefined && <p className="mt-2">{withVisibleControls(howToSet)}</p>}
      </div>
    </>
  );
}
