import { Window } from 'happy-dom';

// React looks for the page when it is loaded, so the page comes first. Only what React needs is made global; the other globals stay Node's.
const window = new Window();
Object.assign(globalThis, { window, document: window.document, IS_REACT_ACT_ENVIRONMENT: true });

const { createRoot } = await import('react-dom/client');

export { createRoot, window };
