import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function ComparePage(): ReactElement {
  return <Page title="Compare">{null}</Page>;
}
