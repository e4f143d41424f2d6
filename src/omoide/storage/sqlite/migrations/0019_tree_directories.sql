-- The trees of several projects can be in one directory: a tree's mirror has the directory of its project as its file.
UPDATE mirrors SET file = coalesce((SELECT path FROM projects WHERE projects.number = mirrors.project), '') WHERE format = 'tree';
