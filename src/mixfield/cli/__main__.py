from mixfield.cli import main

main()
