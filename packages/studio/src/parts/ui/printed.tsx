import { type CSSProperties, type ReactElement, type ReactNode, type Ref, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** On paper, all items of a list that draws only the visible ones on the screen. That list has `OnScreen` as its container. */
export function Printed({ children }: { children: () => ReactNode }): ReactNode {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    // The browser prints what is there when the event ends.
    const begin = (): void => flushSync(() => setPrinting(true));
    const end = (): void => setPrinting(false);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting && <div className="hidden print:block">{children()}</div>;
}

interface OnScreenProps {
  readonly style: CSSProperties;
  readonly children: ReactNode;
  readonly ref?: Ref<HTMLDivElement>;
}

export function OnScreen({ style, children, ref }: OnScreenProps): ReactElement {
  return (
    <div ref={ref} style={style} className="print:hidden">
      {children}
    </div>
  );
}
