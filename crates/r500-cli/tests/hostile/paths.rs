//! Paths of a source that lead out of its folder.

use super::{Folder, command_line, r500};

#[test]
fn sources_name_files_of_their_own_folder_only() {
    let folder = Folder::new("paths");
    folder.write("secret.inc", "root:x:0:0\n");
    folder.write("lib/good.inc", "#include \"deep/more.inc\"\n");
    folder.write("lib/deep/more.inc", "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
    std::os::unix::fs::symlink(folder.path("secret.inc"), folder.path("lib/link.inc")).unwrap();
    let secret = folder.path("secret.inc");
    for path in ["../secret.inc", "deep/../../secret.inc", "link.inc", "../not-there.inc", &*secret]
    {
        let main = folder.write("lib/main.r5", format!("#include \"{path}\"\n"));
        let run =
            r500(&["asm", &main]).status(1).says(&["main.r5:1:10", "outside", "--allow-paths"]);
        assert!(!run.messages().contains("root:x"), "{}", run.messages());
    }
    let main = folder.write("lib/main.r5", "#include \"good.inc\"\n");
    r500(&["asm", &main]).status(0);
    // It expects something, so that `test` has a test.
    let expect = "SIZE 2 2 ;\nEXPECT coverage at (0, 0) = true ;\n";
    let main = folder.write("deep/main.r5", format!("{expect}#include \"../lib/good.inc\"\n"));
    r500(&["asm", &main]).status(1).says(&["outside"]);
    for command in ["asm", "check", "render", "run", "disasm", "stats", "test"] {
        let run = r500(&[&command_line(command, &main)[..], &["--allow-paths"]].concat()).status(0);
        assert!(!run.messages().contains("error"), "{command}: {}", run.messages());
    }
    // A folder that is searched is allowed, too.
    let main = folder.write("deep/main.r5", "#include \"good.inc\"\n");
    r500(&["asm", &main, "-I", &folder.path("lib")]).status(0);
}
