"""Which of the listed commands does what is asked. The fact is the request; the same command is met on both sides, never the same request."""

from __future__ import annotations

import random

from clawctl.tasks.problem import Problem, Side, one_of, side_of

# Every command with what it does, as the options tell it.
GLOSSES = {
    "ls": "list files",
    "cd": "change folder",
    "pwd": "print current folder",
    "cp": "copy files",
    "mv": "move or rename",
    "rm": "delete files",
    "mkdir": "make a folder",
    "cat": "print a file",
    "grep": "search text",
    "find": "find files",
    "head": "first lines",
    "tail": "last lines",
    "wc": "count lines and words",
    "sort": "sort lines",
    "diff": "compare files",
    "df": "free disk space",
    "ps": "list processes",
    "kill": "end a process",
    "chmod": "change permissions",
    "tar": "pack or unpack archives",
    "ping": "test a host",
    "man": "read the manual",
    "touch": "create an empty file",
    "git init": "start a repository",
    "git clone": "copy a remote repository",
    "git status": "list changed files",
    "git diff": "show changed lines",
    "git log": "show past commits",
    "git add": "stage files",
    "git commit": "save staged changes",
    "git push": "send commits",
    "git pull": "get remote commits",
    "git branch": "list or create branches",
    "git checkout": "switch branches",
    "git merge": "join branches",
    "git stash": "put changes aside",
}
REQUESTS = {
    "ls": ["list the files here", "show the contents of this folder", "see which files exist", "print the names of all files"],
    "cd": ["change to another folder", "go into the src directory", "enter a directory", "change the working directory"],
    "pwd": ["print the current directory", "tell which folder I am in", "show the path of the working directory"],
    "cp": ["copy a file", "make a copy of notes.txt", "duplicate a file under a new name", "copy report.txt to a backup"],
    "mv": ["move a file", "rename a file", "move a file into another folder", "give a file a new name"],
    "rm": ["delete a file", "remove a file", "remove old.log for good", "delete files that are not needed"],
    "mkdir": ["make a new directory", "create a folder", "create an empty directory called docs", "make a folder for photos"],
    "cat": ["print a whole file", "show all of a short file", "display the text of a file", "join two files into one output"],
    "grep": ["search for a word in files", "find lines that contain a word", "search a log for errors", "filter lines by a pattern"],
    "find": ["find files by name", "find all .txt files below here", "find files changed today", "locate files larger than 1 MB"],
    "head": ["show the first lines of a file", "print the first 10 lines", "see the beginning of a file", "look at the top of a file"],
    "tail": ["show the last lines of a file", "print the last 10 lines", "see the end of a log", "follow a growing log file"],
    "wc": ["count the lines of a file", "count words in a text", "tell how many lines a file has", "count the characters in a file"],
    "sort": ["sort the lines of a file", "put lines in alphabetical order", "order lines by number", "sort a list of names"],
    "diff": ["compare two files", "show how two files differ", "see the differences between two files"],
    "df": ["show free disk space", "see how full the disks are", "print space left on each file system"],
    "ps": ["list running processes", "show which programs are running", "print process ids"],
    "kill": ["stop a process by its id", "end a running process", "send a signal to a process"],
    "chmod": ["change file permissions", "make a script executable", "set the mode of a file", "forbid others to write a file"],
    "tar": ["pack a folder into an archive", "unpack an archive", "create a .tar file", "extract files from backup.tar"],
    "ping": ["test whether a host answers", "check if a server can be reached", "measure the delay to a host"],
    "man": ["read the manual of a command", "open the manual page of a tool", "look up how a command is used"],
    "touch": ["create an empty file", "update the time of a file", "make a new empty file"],
    "git init": ["start a new repository", "make this folder a git repository", "create an empty repository"],
    "git clone": ["copy a remote repository here", "download a repository for the first time", "clone a project from a URL"],
    "git status": ["see which files have changed", "show the state of the working tree", "list files that are not committed"],
    "git diff": ["show the changed lines", "see the differences since the last commit", "view unstaged changes line by line"],
    "git log": ["show the history of commits", "list past commits", "see who committed what and when"],
    "git add": ["stage a file", "add a file to the next commit", "put changes into the index"],
    "git commit": ["record the staged changes", "save staged work with a message", "write a new commit"],
    "git push": ["send commits to the remote", "upload local commits", "publish my commits on the server"],
    "git pull": ["fetch and merge remote changes", "get the latest commits from the remote", "update my branch from the server"],
    "git branch": ["list all branches", "create a branch", "delete a branch", "see the names of branches"],
    "git checkout": ["switch to another branch", "go back to an older commit", "change to the branch dev"],
    "git merge": ["merge a branch into this one", "join two branches", "bring the work of a branch into main"],
    "git stash": ["put changes aside for a while", "hide unfinished work", "shelve local changes and get them back later"],
}
PHRASES = [
    "{1}. Which command to {0}?",
    "I want to {0}. {1}. Which command?",
    "Pick the command to {0}: {1}.",
    "Commands: {1}. Task: {0}. Which one fits?",
]
OWNER = {request: command for command, requests in REQUESTS.items() for request in requests}


def draw(rng: random.Random, side: Side) -> Problem:
    """Two or three options, each with what it does. The more words the request shares with the right one, the easier."""
    request = rng.choice([r for r in OWNER if side_of(f"request:{r}") == side])
    command = OWNER[request]
    count = rng.choice([2, 3])
    options = [command, *rng.sample([c for c in REQUESTS if c != command], count - 1)]
    rng.shuffle(options)
    shown = ", ".join(f"{GLOSSES[option]}: {option}" for option in options)
    prompt = rng.choice(PHRASES).format(request, shown)
    shared = set(request.split()) & set(GLOSSES[command].split()) - {"a", "the"}
    difficulty = 0.2 + 0.2 * (count == 3) + 0.2 * (not shared)
    step = f"{GLOSSES[command]}: {command}"
    return Problem(f"request:{request}", prompt, one_of(command, options), [step], command, round(difficulty, 2))
