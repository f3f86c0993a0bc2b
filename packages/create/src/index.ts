// The public door of create-lastcall.
export { createProject, type Project, ProjectRefused } from './create-project.ts';
